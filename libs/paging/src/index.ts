export { InvalidCursorError, cursorAfter, idBefore } from './cursor';
export { Paged, PageInterceptor, pageOf, type Page } from './page.interceptor';
export { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, PageQuery } from './page-query';
