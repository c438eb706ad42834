// Options of the Scalar page: files come from this service alone, and requests go to the address that served the page.
const here = new URL('.', location.href).href;

globalThis.Scalar.createApiReference('#reference', {
  url: `${here}docs/openapi.json`,
  servers: [{ url: here.replace(/\/$/, '') }],
  metaData: { title: 'Pet Store' },
  authentication: { preferredSecurityScheme: 'apiKey' },
  persistAuth: true,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  // Hides all languages but curl, JavaScript, Python and Go.
  hiddenClients: {
    ...Object.fromEntries(
      'c clojure csharp dart fsharp http java kotlin objc ocaml php powershell r ruby rust swift'
        .split(' ')
        .map((language) => [language, true]),
    ),
    shell: ['wget', 'httpie'],
    js: ['axios', 'jquery', 'ofetch', 'xhr'],
    node: ['axios', 'fetch', 'ofetch'],
    python: ['aiohttp', 'httpx_async', 'httpx_sync'],
  },
  documentDownloadType: 'none',
  showDeveloperTools: 'never',
  hideClientButton: true,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
});
