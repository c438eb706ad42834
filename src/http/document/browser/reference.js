// Options of the Scalar page: files come from this service alone, and requests go to the address that served the page.
const here = new URL('.', location.href).href;

globalThis.Scalar.createApiReference('#reference', {
  url: `${here}docs/openapi.json`,
  servers: [{ url: here.replace(/\/$/, '') }],
  metaData: { title: 'Pet Store' },
  authentication: { preferredSecurityScheme: 'apiKey' },
  persistAuth: true,
  // The document has samples of its own, which run as they are.
  hiddenClients: true,
  // As they are sent.
  orderSchemaPropertiesBy: 'preserve',
  orderRequiredPropertiesFirst: false,
  setPageTitle: ({ title }) => `${title} · Pet Store`,
  documentDownloadType: 'none',
  showDeveloperTools: 'never',
  hideClientButton: true,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
});
