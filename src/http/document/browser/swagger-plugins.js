// Plugins that change what Swagger UI shows. Swagger UI calls each plugin with its system, which has React, and replaces
// or wraps its own components, actions and selectors by the plugin's.
globalThis.swaggerUiPlugins = [
  // Downloads the OpenAPI document from `swaggerUrl`. This list replaces the default list, which has only this plugin.
  (system) => globalThis.SwaggerUIBundle.plugins.DownloadUrl(system),

  // Hides "Try it out" for operations with `x-hideTryItPanel`.
  () => {
    const allowTryItOutFor = (original, { specSelectors }) => {
      return (state, path, method) =>
        !specSelectors.specJson().getIn(['paths', path, method, 'x-hideTryItPanel']) &&
        original(state, path, method);
    };
    return { statePlugins: { spec: { wrapSelectors: { allowTryItOutFor } } } };
  },

  // Scrolls to the operation of an address such as `/swagger#/Orders/placeOrder` as the browser does, because Swagger
  // UI's own function would scroll the operation below the header of the page.
  () => {
    const scrollToElement = () => (element) => element.scrollIntoView();
    return { statePlugins: { layout: { wrapActions: { scrollToElement } } } };
  },

  // Shows the names of tags and operations without links, and leaves out the choice of a server.
  () => ({ components: { DeepLink: ({ text }) => text, ServersContainer: () => null } }),

  // Shows the headers of a documented response after a click. All responses of an operation have almost the same
  // headers, and with all of these headers an operation would be many screens long.
  ({ React: { createElement } }) => {
    const headers = (Original) => (props) => {
      const { size } = props.headers ?? {};
      const title = createElement('summary', null, `Headers (${size})`);
      return size > 0 && createElement('details', null, title, createElement(Original, props));
    };
    return { wrapComponents: { headers } };
  },

  // Gives menus, text fields and icons the names (`aria-label`) that a screen reader announces.
  ({ React: { createElement } }) => {
    const named = (nameOf) => (Original) => (props) => {
      const ref = (part) => {
        part?.querySelectorAll('select, textarea').forEach((field) => (field.ariaLabel ??= nameOf(props)));
      };
      return createElement('div', { ref }, createElement(Original, props));
    };
    const changed = (changes) => (Original) => (props) => createElement(Original, { ...props, ...changes });
    const wrapComponents = {
      ExamplesSelect: named(() => 'Example'),
      TextArea: named(() => 'Content'),
      JsonSchemaForm: named(({ description }) => description),
      CloseIcon: changed({ 'aria-hidden': false, 'aria-label': 'Close', role: 'img' }),
      Button: changed({ 'aria-label': undefined }),
    };
    return { wrapComponents };
  },
];
