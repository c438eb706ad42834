import { type Browser, chromium } from 'playwright-core';
import { CHROMIUM, findProgram } from './programs';

/** A name of this machine that the browser does not treat as its own, as it would treat 127.0.0.1. */
export const FOREIGN_HOST = 'petstore.test';

const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--host-resolver-rules=MAP ${FOREIGN_HOST} 127.0.0.1`,
];

/** A real browser without a window, with a new and empty profile of its own. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: findProgram(CHROMIUM), headless: true, args: QUIET });
}
