/** What the page adds to Swagger UI's own style: a menu, groups, markers, contrast, and room on narrow screens. */
export const PAGE_STYLE = `
:root { --accent: #1a5fb4; --line: #d0d5da; --quiet: #57606a; --ground: #fff; --panel: #f6f8fa; --text: #24292f; --go: #1d7342 }
html.dark-mode { --accent: #6cb2ff; --line: #434b4f; --quiet: #b7bcbf; --ground: #1c2022; --panel: #2a2e30; --text: #e4e6e6; --go: #3ece90 }
*, *::before, *::after { box-sizing: border-box }
html { scroll-padding-top: 16px }
body { margin: 0; background: var(--ground); color: var(--text) }
body, .swagger-ui, .swagger-ui .info, .swagger-ui .info .title, .swagger-ui .opblock-tag, .swagger-ui .btn,
.swagger-ui table, .swagger-ui label, .swagger-ui h4, .swagger-ui .opblock .opblock-summary-description
  { font-family: -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif }
noscript { display: block; padding: 20px }
:focus-visible { outline: 3px solid var(--accent) !important; outline-offset: 2px }
.petstore-skip, .petstore-unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.petstore-skip:focus { z-index: 3; width: auto; height: auto; padding: 10px 16px; clip-path: none; background: var(--ground) }

@media (prefers-reduced-motion: reduce) { *, *::before, *::after { transition: none !important; animation: none !important } }

/* The menu: beside the page where there is room, above it elsewhere. */
.petstore-page { display: grid; grid-template-columns: 220px minmax(0, 1fr); max-width: 1440px; margin: 0 auto }
.petstore-page > nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; padding: 40px 8px 24px 20px }
.petstore-page > nav ul { list-style: none; margin: 0; padding: 0 }
.petstore-page > nav ul ul { margin: 0 0 8px 12px; border-left: 1px solid var(--line) }
.petstore-page > nav a { display: block; padding: 6px 12px; border-radius: 4px; color: var(--text); font-size: 15px; text-decoration: none }
.petstore-page > nav > ul > li > a { font-weight: 600 }
.petstore-page > nav a:hover { background: var(--panel); color: var(--accent) }

/* The head: what the service is, one button for the key, and a search. */
.swagger-ui .info { margin: 32px 0 20px }
.swagger-ui .info .title { font-size: 34px }
.swagger-ui .info .description { max-width: 80ch }
.swagger-ui .info p, .swagger-ui .info li { max-width: none; font-size: 15px; line-height: 1.55 }
.swagger-ui .info table { width: auto; margin: 12px 0 }
.swagger-ui .info table td, .swagger-ui .info table th
  { padding: 6px 28px 6px 0 !important; border-bottom: 1px solid var(--line); font-size: 15px; vertical-align: baseline }
.swagger-ui .scheme-container { margin: 0; padding: 12px 0; background: none !important; box-shadow: none !important }
.swagger-ui .scheme-container .schemes { gap: 0; justify-content: flex-start }
.swagger-ui .info a { color: var(--accent) }
.swagger-ui #api_key_value { width: 100%; max-width: 440px }
.swagger-ui .scheme-container .schemes .auth-wrapper { justify-content: flex-start; padding: 0 }
.swagger-ui .scheme-container .auth-wrapper .authorize { margin: 0 }
.swagger-ui .petstore-search { display: flex; align-items: center; gap: 12px; padding-bottom: 8px }
.swagger-ui .petstore-search label { margin: 0; white-space: nowrap }
.swagger-ui .petstore-search input { flex: 1; max-width: 420px; margin: 0; padding: 8px 12px; font-size: 15px }
.swagger-ui [role=status] { padding: 20px }

.swagger-ui .btn.authorize, .swagger-ui .btn.authorize svg { border-color: var(--go); color: var(--go); fill: var(--go) }
.swagger-ui .btn.execute { background: #1a5fb4; border-color: #1a5fb4; color: #fff }

/* The tree of tags. */
.petstore-group { margin-bottom: 28px }
.swagger-ui .petstore-group > h2 { margin: 24px 0 4px; font-size: 26px; font-weight: 600; color: var(--text) }
.petstore-group > h2 + div { padding-left: 14px; border-left: 2px solid var(--line) }
html .swagger-ui .info .title, html .swagger-ui label, html .swagger-ui .opblock-tag a, html .swagger-ui section h3 { color: var(--text) }
.swagger-ui .opblock-tag { padding: 8px 10px 8px 0; font-size: 20px }
.petstore-group > div:first-child .opblock-tag { font-size: 26px }
.swagger-ui .opblock-tag small { color: var(--quiet); padding: 0 12px }

/* Operations: methods that can be read, markers, and deprecated ones that are struck out but not faded. */
.swagger-ui .opblock .opblock-summary-method { min-width: 76px; text-shadow: none }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #1a5fb4 }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #1d7342 }
.swagger-ui .opblock.opblock-put .opblock-summary-method { background: #9a5200 }
.swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #0b7068 }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #b92525 }
.swagger-ui .opblock.opblock-deprecated { opacity: 1 }
.swagger-ui .opblock.opblock-deprecated .opblock-summary-method { background: #5f666d }
html.dark-mode .swagger-ui .opblock.opblock-deprecated .opblock-summary-method { background: #8c969a }
.swagger-ui .opblock .opblock-summary-path__deprecated { color: var(--quiet) }
.petstore-summary { display: flex; flex-wrap: wrap; align-items: center; gap: 6px; min-width: 0 }
.petstore-badge { padding: 2px 8px; border-radius: 10px; color: #fff; font-size: 12px; font-weight: 600; white-space: nowrap }
.petstore-beta { background: #1f5fbf }
.petstore-experimental { background: #8a3ab9 }
.petstore-deprecated { background: #5f666d }
.swagger-ui .opblock-summary-control, .swagger-ui .opblock-summary-path-description-wrapper { min-width: 0 }
.swagger-ui table.parameters tbody tr td.parameters-col_name:first-of-type { padding-right: 14px }
html .swagger-ui .parameter__extension, html .swagger-ui .parameter__in { color: var(--quiet) }
.swagger-ui .responses-table .response > td { padding: 14px 14px 14px 0; border-top: 1px solid var(--line) }
.swagger-ui .response-controls { flex-wrap: wrap; gap: 8px }
.swagger-ui .highlight-code:has(.download-contents) .microlight { padding-bottom: 48px }
.swagger-ui .parameters-col_description input, .swagger-ui .parameters-col_description select { max-width: 420px }

.swagger-ui .responses-table:not(:has(.response-col_links > :not(i))) .response-col_links { display: none }
.petstore-headers { margin-top: 12px; font-size: 14px }
.petstore-headers > summary { cursor: pointer; font-weight: 600 }
.petstore-headers .headers__title { display: none }
.petstore-headers .headers td, .petstore-headers .headers th { padding: 6px 12px 6px 0; font-family: inherit; font-size: 14px; font-weight: 400 }
.petstore-headers .headers td:first-child { font-family: monospace; font-weight: 600 }

/* Schemas. */
.swagger-ui section.models .model-container:nth-child(n) { margin: 0 12px 8px; border-radius: 4px }
.swagger-ui section.models .model-box { padding: 6px 10px }

@media (max-width: 1000px) {
  html { scroll-padding-top: 60px }
  .petstore-page { display: block }
  .petstore-page > nav { z-index: 2; padding: 0 8px; overflow-x: auto; background: var(--ground); border-bottom: 1px solid var(--line) }
  .petstore-page > nav ul, .petstore-page > nav ul ul { display: flex; margin: 0; border: 0 }
  .petstore-page > nav li { display: flex }
  .petstore-page > nav a { padding: 12px 8px; white-space: nowrap }
}
@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 12px }
  .swagger-ui .info table td, .swagger-ui .info table th { padding-right: 16px }
  .swagger-ui .petstore-search { flex-wrap: wrap }
  .swagger-ui .petstore-search input { flex-basis: 100% }
  .swagger-ui :is(.callbacks-container, .opblock-body) { overflow-x: auto }
  .swagger-ui .opblock-section-header { flex-wrap: wrap; gap: 8px }
  .petstore-group > h2 + div { padding-left: 8px }
  /* What a touch leaves over the badges, and a column that is wider than three digits. */
  .swagger-ui .opblock-summary .view-line-link { display: none }
  .swagger-ui .responses-table :is(th, td):first-child { min-width: 48px }
}
`;
