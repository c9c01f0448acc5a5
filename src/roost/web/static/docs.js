Scalar.createApiReference("#docs", {
  url: "/v4/openapi.json",
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: "never",
  hideClientButton: true,
  agent: { disabled: true },
  orderSchemaPropertiesBy: "preserve",
  orderRequiredPropertiesFirst: false,
  documentDownloadType: "json",
  authentication: { preferredSecurityScheme: "token" },
});
