export { InvalidCursorError, cursorAfter, idBefore } from './cursor';
export { Paged, pageOf, type Page } from './page';
export { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, PageQuery } from './page-query';
