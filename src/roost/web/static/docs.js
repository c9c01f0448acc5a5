Scalar.createApiReference("#docs", {
  url: "/v4/openapi.json",
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: "never",
  hideClientButton: true,
  documentDownloadType: "json",
});
