import { INDEX_PATH, STYLE_PATH, guidePath } from './guides-list';
import type { Guide } from './guides-markdown';

/** What a guide is called in the navigation: the index has a shorter name there than on its own page. */
function labelOf({ name, title }: Guide): string {
  return name === 'README' ? 'Guides' : escaped(title);
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function linkTo(guide: Guide, attributes = ''): string {
  return `<a href="${guidePath(guide.name)}"${attributes}>${labelOf(guide)}</a>`;
}

/** One guide as a whole page: it needs no script, and nothing that is not its own. */
export function pageOf(guide: Guide, guides: Guide[]): string {
  const entries = guides.map(
    (other) => `<li>${linkTo(other, other === guide ? ' aria-current="page"' : '')}</li>`,
  );
  const next = guides[guides.indexOf(guide) + 1];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${labelOf(guide)} – Pet Store</title>
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<header><strong>Pet Store</strong> <a href="/docs">Operations</a> <a href="/openapi.json">Interface description</a></header>
<nav aria-label="Guides"><ul>
${entries.join('\n')}
</ul></nav>
<main id="text">
${guide.html}</main>
<footer>${next ? `Next: ${linkTo(next, ' rel="next"')}` : `<a href="${INDEX_PATH}">All guides</a>`}</footer>
</body>
</html>
`;
}
