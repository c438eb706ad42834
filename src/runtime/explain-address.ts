import { StartError } from './failures';

/**
 * Opens an address to listen on.
 * @throws StartError that names the variables it comes from
 */
export async function explainAddress<Opened>(
  variables: string,
  { host, port }: { host: string; port: number },
  open: () => Promise<Opened>,
): Promise<Opened> {
  try {
    return await open();
  } catch (error) {
    const { code, message, syscall } = error as NodeJS.ErrnoException;
    // Nest initializes its modules in listen(), so other errors can occur here.
    if (syscall === undefined) {
      throw error;
    }
    const reason = code === 'EADDRINUSE' ? 'it is in use by another process; choose another' : message;
    throw new StartError(`${host} port ${port} (${variables}) cannot be listened on: ${reason}.`);
  }
}
