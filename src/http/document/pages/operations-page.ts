import type { OpenAPIObject } from '@nestjs/swagger';
import type { Guide } from '../guides/guides-markdown';
import { htmlOf, sideBar } from './frame';

const SWAGGER_UI = `<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/page.css">
<script src="/docs/swagger-ui-bundle.js" defer></script>
<script type="module" src="/docs/page.js"></script>
`;

const KEY_DIALOG = `<dialog class="key" aria-labelledby="key-title" closedby="any"><form method="dialog">
<h2 id="key-title">Your API key</h2>
<p role="status"></p>
<label>API key <input name="key" autocomplete="off" spellcheck="false" placeholder="psk_live_…"></label>
<p>It is kept until you close this tab. <a href="/docs/guides/authentication">About keys</a></p>
<button class="go">Check and use</button>
<button type="button" name="forget" hidden>Forget the key</button>
<button name="close">Close</button>
</form></dialog>
`;

/** The page of the operations, before its script starts Swagger UI. */
export function operationsPage(document: OpenAPIObject, guides: Guide[]): string {
  return htmlOf({
    title: 'Pet Store',
    head: SWAGGER_UI,
    bar: '<button type="button" class="authorize">Authorize</button>\n',
    side: sideBar(document, guides),
    body: `${KEY_DIALOG}<div id="page">
<noscript>This page needs JavaScript. The interface is described in <a href="/openapi.yaml">openapi.yaml</a>.</noscript>
</div>`,
  });
}
