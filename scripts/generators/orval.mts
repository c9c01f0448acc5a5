// Volumes by the client that orval makes.
import assert from "node:assert/strict";
import { createVolume, deleteVolume, listVolumes, viewVolume } from "./orval/client.js";

// Its paths have no host: a browser would add its own.
const fetched = globalThis.fetch;
globalThis.fetch = (path, options) => fetched(`${process.env.ROOST_URL}${path}`, options);
const headers = { Authorization: `Bearer ${process.env.ROOST_TOKEN}` };

const made = await createVolume({ label: "orval", region: "us-lake" }, {}, { headers });
assert(made.status === 200 && "id" in made.data);
const wanted = JSON.stringify({ label: { "+contains": "orv" } });
const page = await listVolumes({}, { headers: { ...headers, "X-Filter": wanted } });
assert(page.status === 200);
assert.deepEqual(page.data.data.map((volume) => volume.id), [made.data.id]);
const seen = await viewVolume(made.data.id, { headers });
assert(seen.status === 200);
assert.equal(seen.data.size, 20);
assert.equal((await deleteVolume(made.data.id, {}, { headers })).status, 200);
const gone = await viewVolume(made.data.id, { headers });
assert(gone.status === 404);
assert.equal(gone.data.errors[0]?.reason, "Not found");
console.log("orval: ok");
