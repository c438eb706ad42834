import { answersPlugin } from './answers-plugin';
import { deepLinksPlugin } from './deep-links-plugin';
import { framePlugin } from './frame-plugin';
import { keyDialogPlugin } from './key-dialog-plugin';
import { markersPlugin } from './markers-plugin';
import { menuPlugin } from './menu-plugin';
import { searchPlugin } from './search-plugin';
import { tagTreePlugin } from './tag-tree-plugin';
import { tryItPlugin } from './try-it-plugin';

const PLUGINS = [
  answersPlugin,
  markersPlugin,
  tagTreePlugin,
  menuPlugin,
  deepLinksPlugin,
  searchPlugin,
  keyDialogPlugin,
  framePlugin,
  tryItPlugin,
];

/** Of Swagger UI (its documentation: "Configuration"). */
const SETTINGS = {
  url: '/openapi.json',
  dom_id: '#page',
  deepLinking: true,
  filter: true,
  displayRequestDuration: true,
  showCommonExtensions: true,
  // A key lives in the open page alone: whoever reloads it, or uses the browser next, finds none.
  persistAuthorization: false,
};

/** Starts Swagger UI with what is added to it here. */
export const PAGE_SCRIPT = `'use strict';
SwaggerUIBundle({
  ...${JSON.stringify(SETTINGS)},
  plugins: [${PLUGINS.map(String).join(',\n')}],
});
`;
