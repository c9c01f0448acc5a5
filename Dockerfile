# Roost for developers of tools: simulated engines, the lab, and a listener in Linode's words.
# docs/testing.md says how it is used. Whoever reaches its ports and its token may do everything.
FROM python:3.11-slim

ENV PATH=/opt/roost/.venv/bin:$PATH \
    ROOST_STATE=/var/lib/roost \
    ROOST_DNS_ENGINE=simulated \
    ROOST_OBJECTS_ENGINE=simulated \
    ROOST_SIMULATED_LATENCY=0 \
    ROOST_RATE_LIMIT_SCALE=0

# PostgreSQL, which comes with Roost, does not run as root.
RUN useradd --create-home --uid 1000 roost \
    && install -d -o roost -g roost -m 0700 /var/lib/roost

WORKDIR /opt/roost
COPY pyproject.toml uv.lock README.md LICENSE ./
COPY src src
COPY libraries.json ./
COPY scripts/libraries.py scripts/
COPY examples/catalogs examples/catalogs
RUN python scripts/libraries.py \
    && pip install --no-cache-dir uv \
    && UV_LINK_MODE=copy uv sync --locked --no-dev --no-editable --no-cache --compile-bytecode

USER roost
VOLUME /var/lib/roost
EXPOSE 8080 8081
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8080/healthz')"]
ENTRYPOINT ["roost"]
CMD ["serve", "--listen", "0.0.0.0:8080", "--engines", "simulated", "--lab", "--catalog", "/opt/roost/examples/catalogs/linode.toml", "--dialect", "linode=0.0.0.0:8081"]
