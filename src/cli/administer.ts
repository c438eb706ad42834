import type { INestApplicationContext } from '@nestjs/common';

/** Does a command's work with the services of the application, which are loaded only now: --help must not wait for them. */
export async function administer<Result>(
  work: (services: INestApplicationContext) => Promise<Result>,
): Promise<Result> {
  const { withServices } = await import('./administration.js');
  return withServices(work);
}
