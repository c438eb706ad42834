// Plugins for Swagger UI. Swagger UI calls each plugin with an object that has React. A plugin adds, replaces or wraps
// components, actions and selectors of Swagger UI.
//
// Each plugin relies on names inside Swagger UI, which a new release may change. If a plugin has no effect after an
// update, look for these names in swagger-ui-bundle.js:
// 1.  downloads the document: plugin `DownloadUrl`
// 2.  hides forms that must not be used: selector `spec.allowTryItOutFor`
// 3.  scrolls to an operation: action `layout.scrollToElement`
// 4.  follows the address: `history.pushState`; actions `layout.parseDeepLinkHash`, `readyToScroll`; selector
//     `layout.getScrollToKey`
// 5.  removes links and the choice of a server: components `DeepLink`, `ServersContainer`, `InfoUrl`
// 6.  folds and sorts the schemas: action `layout.show`; selector `spec.definitions`
// 7.  shows ids as text fields: components `JsonSchema_integer_int64` (which Swagger UI lacks), `JsonSchema_string`,
//     `JsonSchema_array`
// 8.  folds responses: component `response`
// 9.  folds headers: component `headers`
// 10. names parts for screen readers and the keyboard: the components and classes that the plugin names
// 11. says that a button has copied: class `copy-to-clipboard`
// 12. shows why a value was refused: components `JsonSchemaForm`, `RequestBodyEditor`; class `invalid`
// 13. makes the dialog for keys modal: component `authorizationPopup`; class `btn-done`; action `auth.showDefinitions`
// 14. removes an old response: actions `spec.clearValidateParams`, `clearResponse`, `clearRequest`
// 15. returns the focus to "Execute": component `execute`
// 16. announces and corrects responses: components `responses`, `liveResponse`; the text "Possible Reasons"

// Turns off the script for smooth scrolling in Swagger UI, because this script takes over the click on "Skip to the
// content" and leaves the focus on the link.
globalThis.noZensmooth = true;

// Stands in for a script of Swagger UI that the page does not load, because this script only adds the top bar.
globalThis.SwaggerUIStandalonePreset = [];

globalThis.swaggerUiPlugins = [
  // 1. Downloads the OpenAPI document from `swaggerUrl`. This list replaces the default list, which has only this
  // plugin.
  (system) => globalThis.SwaggerUIBundle.plugins.DownloadUrl(system),

  // 2. Hides "Try it out" for operations with `x-hideTryItPanel`.
  () => {
    const allowTryItOutFor = (original, { specSelectors }) => {
      return (state, path, method) =>
        !specSelectors.specJson().getIn(['paths', path, method, 'x-hideTryItPanel']) &&
        original(state, path, method);
    };
    return { statePlugins: { spec: { wrapSelectors: { allowTryItOutFor } } } };
  },

  // 3. Scrolls to the operation of an address such as `/swagger#/Orders/placeOrder` as the browser does, because
  // Swagger UI's own function would scroll the operation below the header of the page.
  () => {
    const scrollToElement = () => (element) => element.scrollIntoView();
    return { statePlugins: { layout: { wrapActions: { scrollToElement } } } };
  },

  // 4. Follows a change of the address, for example by a link. Swagger UI itself reads the address only while the page
  // loads.
  () => {
    // An opened operation replaces the address instead of adding an entry to the history, because "Back" would change the
    // address and leave the operation open.
    history.pushState = history.replaceState;
    // Removes the part after `#` from an address if that part is malformed, such as `%ZZ`, because Swagger UI would throw
    // an error.
    const removeMalformedHash = () => {
      try {
        decodeURIComponent(location.hash);
      } catch {
        history.replaceState(null, '', '#');
      }
    };
    const afterLoad = ({ layoutActions, layoutSelectors }) => {
      removeMalformedHash();
      addEventListener('hashchange', () => {
        removeMalformedHash();
        // Other changes, for example by "Skip to the content", name no operation.
        if (!location.hash.startsWith('#/')) return;
        layoutActions.parseDeepLinkHash(decodeURIComponent(location.hash));
        const key = layoutSelectors.getScrollToKey();
        const element = document.getElementById(key?.join('-'));
        // If the operation is not on the page yet, Swagger UI scrolls to the operation later.
        if (element) layoutActions.readyToScroll(key, element);
      });
    };
    return { afterLoad };
  },

  // 5. Shows the names of tags and operations without links, and leaves out the choice of a server. Links to the
  // OpenAPI document for programs, because the page itself is made from a variant with texts for readers.
  ({ React: { createElement } }) => {
    const InfoUrl = (Original) => (props) => createElement(Original, { ...props, url: 'openapi.json' });
    const components = { DeepLink: ({ text }) => text, ServersContainer: () => null };
    return { components, wrapComponents: { InfoUrl } };
  },

  // 6. Folds the list of all schemas, which would take up half of the page, and sorts the schemas by name.
  () => {
    const afterLoad = ({ layoutActions }) => layoutActions.show(['components', 'schemas'], false);
    const definitions = (original) => (state) => original(state).sortBy((_schema, name) => name);
    return { afterLoad, statePlugins: { spec: { wrapSelectors: { definitions } } } };
  },

  // 7. Shows an entry of a list of ids as a text field. Without this component, Swagger UI would log a warning. A new
  // entry is empty, because Swagger UI would fill in the largest id.
  ({ React: { createElement }, getComponent }) => {
    const JsonSchema_integer_int64 = (props) => createElement(getComponent('JsonSchema_string'), props);
    const JsonSchema_array = (Original) => (props) => {
      return createElement(Original, { ...props, fn: { ...props.fn, getSampleSchema: () => '' } });
    };
    return { components: { JsonSchema_integer_int64 }, wrapComponents: { JsonSchema_array } };
  },

  // 8. Shows a documented response other than 2xx as one line with the status and the names of the errors. A click
  // shows the response below the line. With all of these responses an operation would be many screens long. A response
  // that has only a description, as for a webhook, stays as it is.
  ({ React: { createElement, Fragment, useState } }) => {
    const FoldedResponse = ({ Original, ...props }) => {
      const [isOpen, setOpen] = useState(false);
      // Each paragraph has a colon between a name, such as `pet_not_found`, and an explanation.
      const paragraphs = props.response.get('description').split('\n\n');
      const names = paragraphs.map((paragraph) => paragraph.split(':')[0]).join(', ');
      const parts = names
        .split('`')
        .map((part, key) => (key % 2 ? createElement('code', { key }, part) : part));
      const status = createElement('b', null, props.code);
      const line = { type: 'button', 'aria-expanded': isOpen, onClick: () => setOpen(!isOpen) };
      const button = createElement('button', line, status, ' ', createElement('span', null, parts));
      const row = createElement('tr', { className: 'folded' }, createElement('td', { colSpan: 2 }, button));
      return createElement(Fragment, null, row, isOpen && createElement(Original, props));
    };
    const response = (Original) => (props) => {
      const hasMore = ['content', 'headers'].some((part) => props.response.has(part));
      const isFolded = hasMore && !props.code.startsWith('2');
      return createElement(isFolded ? FoldedResponse : Original, { ...props, Original });
    };
    return { wrapComponents: { response } };
  },

  // 9. Shows the headers of a documented response after a click. All responses of an operation have almost the same
  // headers, and with all of these headers an operation would be many screens long.
  ({ React: { createElement } }) => {
    const headers = (Original) => (props) => {
      const { size } = props.headers ?? {};
      const title = createElement('summary', null, `Headers (${size})`);
      return size > 0 && createElement('details', null, title, createElement(Original, props));
    };
    return { wrapComponents: { headers } };
  },

  // 10. Gives parts the names (`aria-label`) that a screen reader announces. Lets the keyboard reach code that scrolls,
  // and the tabs "Parameters" and "Callbacks". An empty key is refused, because Swagger UI would ignore the key
  // silently. A key of only spaces is refused, because the service would get no key. A key with a character outside
  // ASCII is refused, because a browser cannot send a curly quote in a header.
  ({ React: { createElement } }) => {
    const changed = (changes) => (Original) => (props) => createElement(Original, { ...props, ...changes });
    const marked = (selector, mark) => (Original) => (props) => {
      const ref = (place) => place?.querySelectorAll(selector).forEach((part) => mark(part, props));
      return createElement('div', { ref, className: 'place' }, createElement(Original, props));
    };
    const named = (selector, nameOf) => {
      return marked(selector, (part, props) => (part.ariaLabel = nameOf(props)));
    };
    const keyState = ({ isAuthorized }) => `Authorize (${isAuthorized ? 'a key is set' : 'no key is set'})`;
    const onkeydown = (event) => {
      if (!['Enter', ' '].includes(event.key)) return;
      event.preventDefault();
      event.currentTarget.click();
    };
    const oninput = ({ target: field }) => {
      const isBlank = field.value !== '' && field.value.trim() === '';
      const isSendable = /^[ -~]*$/.test(field.value);
      const problem = isSendable ? '' : 'A key has only ASCII characters, and no curly quotes.';
      field.setCustomValidity(isBlank ? 'A key has other characters than spaces.' : problem);
    };
    const wrapComponents = {
      ExamplesSelect: named('select', () => 'Example'),
      AuthItem: marked('input', (field, { name }) => {
        Object.assign(field, { ariaLabel: `Value of ${name}`, required: true, oninput });
      }),
      OperationTag: marked('.expand-operation', (button, { tag }) => {
        Object.assign(button, { ariaLabel: tag, title: tag });
      }),
      authorizeBtn: named('.auth-wrapper > button', keyState),
      authorizeOperationBtn: named('button', keyState),
      JsonSchema_array: named('.json-schema-form-item-remove', () => 'Remove'),
      CloseIcon: changed({ 'aria-hidden': false, 'aria-label': 'Close', role: 'img' }),
      Button: changed({ 'aria-label': undefined }),
      parameters: marked('.tab-item:not(:only-child)', (tab) => {
        Object.assign(tab, { role: 'button', tabIndex: 0, onkeydown });
      }),
      HighlightCode: marked('pre', (code) => {
        code.tabIndex = code.scrollHeight > code.clientHeight ? 0 : -1;
      }),
      // Remove `aria-live`, because with it a screen reader would read all of an opened response aloud.
      responses: marked('.responses-table', (table) => table.removeAttribute('aria-live')),
    };
    return { wrapComponents };
  },

  // 11. Shows for two seconds that a button has copied.
  () => {
    addEventListener('click', ({ target }) => {
      const place = target.closest('.copy-to-clipboard');
      if (!place) return;
      const message = document.createElement('span');
      Object.assign(message, { className: 'copied', role: 'status', textContent: 'Copied' });
      place.prepend(message);
      setTimeout(() => message.remove(), 2_000);
    });
  },

  // 12. Gives the fields of a request names, and shows below a field why Swagger UI has refused the value.
  ({ React: { createElement, useId } }) => {
    const textOf = (error) => (error.get ? `Item ${error.get('index') + 1}: ${error.get('error')}` : error);
    const field = (nameOf) => (Original) => (props) => {
      const id = useId();
      const ref = (place) => {
        place?.querySelectorAll('input, select, textarea').forEach((part) => {
          Object.assign(part, { ariaLabel: nameOf(props), ariaInvalid: part.classList.contains('invalid') });
          part.setAttribute('aria-describedby', id);
        });
      };
      const text = props.errors?.map(textOf).join('. ');
      const message = createElement('p', { id, className: 'field-error', role: 'alert' }, text);
      return createElement('div', { ref, className: 'place' }, createElement(Original, props), message);
    };
    const wrapComponents = {
      JsonSchemaForm: field(({ description }) => description),
      RequestBodyEditor: field(() => 'Request body'),
    };
    return { wrapComponents };
  },

  // 13. Shows the dialog for keys in a modal `dialog`, which keeps the focus until the dialog is closed, and gives the
  // focus back to the button that has opened the dialog. Swagger UI's own dialog does neither.
  ({ React: { createElement, useEffect, useLayoutEffect, useRef } }) => {
    const authorizationPopup = (Original) => (props) => {
      const ref = useRef();
      const focusFirst = () => ref.current.querySelector('input, .btn-done').focus();
      useLayoutEffect(() => {
        const dialog = ref.current;
        dialog.showModal();
        focusFirst();
        return () => dialog.close();
      }, []);
      // If the focused field vanishes because the user has entered a key, move the focus to another field or button.
      useEffect(() => {
        if (document.activeElement === document.body) focusFirst();
      });
      const onCancel = () => props.authActions.showDefinitions(false);
      const dialog = { ref, onCancel, 'aria-label': 'Available authorizations' };
      return createElement('dialog', dialog, createElement(Original, props));
    };
    return { wrapComponents: { authorizationPopup } };
  },

  // 14. If Swagger UI refuses a value, removes the response to the previous request, because this response would look
  // like the one to the refused value.
  () => {
    const clearValidateParams = (original, { specActions }) => {
      return (operation) => {
        specActions.clearResponse(...operation);
        specActions.clearRequest(...operation);
        return original(operation);
      };
    };
    return { statePlugins: { spec: { wrapActions: { clearValidateParams } } } };
  },

  // 15. Gives the focus back to "Execute" after a request, because a button loses the focus while the button is
  // disabled.
  ({ React: { createElement, useEffect } }) => {
    const execute = (Original) => (props) => {
      useEffect(() => {
        if (!props.disabled) return undefined;
        const button = document.activeElement;
        return () => {
          if (document.activeElement === document.body) button.focus({ preventScroll: true });
        };
      }, [props.disabled]);
      return createElement(Original, props);
    };
    return { wrapComponents: { execute } };
  },

  // 16. Announces the status of a response. Writes the space after a comma in a header, which Swagger UI leaves out.
  // Does not call 304 an error. If there is no response, Swagger UI guesses reasons such as CORS, which cannot apply,
  // because requests go to the page's own origin. Shows advice instead of these reasons.
  ({ React: { createElement, Fragment } }) => {
    const advice =
      'The service did not respond. Check that the service runs and that you are online, and then press Execute again.';
    const responses = (Original) => (props) => {
      const response = props.tryItOutResponse;
      const text = response && `Response ${response.get('status') ?? 'failed'}`;
      // Each response has its own `key`, so React makes a new element for each response. Screen readers announce a new
      // element even if its text is the same as before.
      const key = response?.getIn(['headers', 'x-request-id']);
      const news = { className: 'news', role: 'status' };
      const announced = createElement('div', news, createElement('p', { key }, text));
      return createElement(Fragment, null, createElement(Original, props), announced);
    };
    const liveResponse = (Original) => (props) => {
      const joined = (value) => (value.join ? value.join(', ') : value);
      const response = props.response
        .update('headers', (headers) => headers.map(joined))
        .update('error', (isError) => isError && props.response.get('status') !== 304)
        .update('message', (message) => message?.replace(/.*\*\*Possible Reasons.*/s, advice));
      return createElement(Original, { ...props, response });
    };
    return { wrapComponents: { responses, liveResponse } };
  },
];
