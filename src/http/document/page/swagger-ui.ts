/** What the page's plugins use of Swagger UI (its documentation: "Plug-points" and "Plugin API") and of the browser. */
export interface System {
  React: {
    createElement: (type: unknown, properties: object | null, ...children: unknown[]) => unknown;
    useState: <State>(initial: () => State) => [State];
    useEffect: (effect: () => () => void, dependencies: unknown[]) => void;
  };
  /** Functions that plugins share. */
  fn: { branches: () => Branch[]; reveal: (hash: string) => void };
  /** The system as it is now; the one that a plugin is given has no state yet. */
  getSystem: () => System;
  specSelectors: SpecSelectors;
  layoutSelectors: {
    currentFilter: () => string | boolean;
    isShown: (key: string[], otherwise: boolean) => boolean;
  };
  layoutActions: {
    show: (key: string[], shown: boolean) => void;
    updateFilter: (phrase: string) => void;
    readyToScroll: (key: string[], element: unknown) => void;
  };
}

/** A tag that has no parent, with those whose parent it is. */
export interface Branch {
  name: string;
  children: string[];
}

export interface SpecSelectors {
  specJson: () => ImmutableMap;
  servers: () => { size: number };
  taggedOperations: () => TaggedOperations;
}

/** Of the persistent collections of Immutable.js. */
export interface ImmutableMap {
  get(key: string): unknown;
  getIn(path: unknown[]): unknown;
  delete(key: string): ImmutableMap;
  deleteIn(path: unknown[]): ImmutableMap;
}

/** The document's own list of tags. */
export interface TagList {
  toJS: () => Record<string, string>[];
}

/** Tags by name, in their order, each with its operations. */
export interface TaggedOperations {
  size: number;
  has(tag: string): boolean;
  map(change: (tag: Tag, name: string) => Tag): TaggedOperations;
  filter(keep: (tag: Tag, name: string) => boolean): TaggedOperations;
}

export interface Tag {
  get(key: 'operations'): Operations;
  set(key: 'operations', operations: Operations): Tag;
}

export interface Operations {
  size: number;
  filter(keep: (operation: ImmutableMap) => boolean): Operations;
}

/** Ways to send a key, each by its name. */
export interface Definitions {
  filter(
    keep: (definition: { some(test: (scheme: ImmutableMap) => boolean): boolean }) => boolean,
  ): Definitions;
}

export interface ParameterRowProperties {
  rawParam: ImmutableMap;
  specSelectors: { parameterWithMetaByIdentity: (...parameter: unknown[]) => ImmutableMap };
}

export interface DeepLinkProperties {
  path: string;
  text: unknown;
}

/** A component, and what stands in its place. */
export type Wrapper<Properties> = (Original: unknown, system: System) => (properties: Properties) => unknown;

export interface Browser {
  document: {
    activeElement: { focus?: () => void } | null;
    documentElement: { classList: { toggle: (name: string, on: boolean) => void } };
    getElementById: (id: string) => PageElement | null;
  };
  location: { hash: string };
  matchMedia: (query: string) => {
    matches: boolean;
    addEventListener: (event: 'change', listener: () => void) => void;
  };
  addEventListener: (event: 'hashchange', listener: () => void) => void;
}

export interface PageElement {
  tabIndex: number;
  focus: (options: { preventScroll: boolean }) => void;
  scrollIntoView: () => void;
}
