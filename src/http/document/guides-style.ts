/** The guides' stylesheet: the fonts and colours of the page at `/docs`, light or dark as the reader has it. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --accent: #1a5fb4; --line: #d0d5da; --ground: #fff; --panel: #f6f8fa; --text: #24292f;
}
@media (prefers-color-scheme: dark) {
  :root { --accent: #6cb2ff; --line: #434b4f; --ground: #1c2022; --panel: #2a2e30; --text: #e4e6e6 }
}
* { box-sizing: border-box }
body {
  margin: 0 auto; max-width: 66rem; padding: 0 1rem 3rem; background: var(--ground); color: var(--text);
  font: 1rem/1.55 -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
  display: grid; grid-template-columns: 13rem minmax(0, 1fr); column-gap: 2.5rem;
}
header, footer { grid-column: 1 / -1; padding: 1rem 0 }
header { border-bottom: 1px solid var(--line); margin-bottom: 1rem }
header strong { font-size: 1.25rem; margin-right: 1rem }
header a { margin-right: 1rem }
footer { grid-column: 2; border-top: 1px solid var(--line); margin-top: 2rem }
nav ul { list-style: none; margin: 0; padding: 0; position: sticky; top: 1rem }
nav a { display: block; padding: .25rem .6rem; border-left: 3px solid transparent; text-decoration: none }
nav a[aria-current] { border-left-color: var(--accent); font-weight: 600 }
a { color: var(--accent) }
a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
.skip { position: absolute; left: -99rem }
.skip:focus { left: 1rem; top: .5rem; background: var(--panel); padding: .4rem .8rem }
h1, h2, h3 { line-height: 1.25; overflow-wrap: break-word }
h1 { margin: 0 0 1rem; font-size: 2rem }
h2 { margin: 2rem 0 .6rem; font-size: 1.35rem }
h3 { margin: 1.5rem 0 .4rem; font-size: 1.1rem }
code, pre { font-family: ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size: .875rem }
code { background: var(--panel); border-radius: 3px; padding: .1em .3em; overflow-wrap: anywhere }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 4px; padding: .8rem 1rem; overflow-x: auto; line-height: 1.45 }
pre code { background: none; padding: 0; overflow-wrap: normal }
pre [class^='language-'] { white-space: pre-wrap; overflow-wrap: anywhere }
pre:has(.language-sh) { background: #2b3137; color: #f3f5f7; border-color: #2b3137 }
table { border-collapse: collapse; table-layout: fixed; width: 100%; font-size: .925rem }
th, td { border-bottom: 1px solid var(--line); padding: .5rem .8rem .5rem 0; text-align: left; vertical-align: top }
@media (max-width: 48rem) {
  body { display: block }
  header { padding: .8rem 0 }
  pre code { font-size: .8rem }
  tr:has(> :nth-child(3)) { display: block; border-bottom: 1px solid var(--line); padding: .5rem 0 }
  tr:has(> :nth-child(3)) > td { display: block; border: 0; padding: .1rem 0 }
  tr:has(> :nth-child(3)) > td::before { content: attr(data-column) ': '; font-weight: 600 }
  tr:has(> th:nth-child(3)) { display: none }
  nav ul { position: static; display: flex; flex-wrap: wrap; gap: .2rem .4rem; margin-bottom: 1.5rem }
  nav a { border-left: 0; border-bottom: 3px solid transparent; padding: .2rem .4rem }
  nav a[aria-current] { border-bottom-color: var(--accent) }
}
`;
