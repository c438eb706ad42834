export { InvalidCursorError, cursorAfter, idBefore } from './cursor';
export { Paged, pageOf, type Page } from './page';
export { type List, nameBeginsWith } from './page-statements';
export { PageReader, type Parameter, type Selection } from './page-reader';
export { MAX_PAGE_SIZE, PageQuery, cursorText } from './page-query';
