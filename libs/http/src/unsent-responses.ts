import type { ServerResponse } from 'node:http';

/** What one client may leave unread in the memory of the service, over all its connections. */
export const MAX_UNSENT_BYTES = 16 * 1024 * 1024;
/** Smaller bodies are not tracked: their connection itself takes as much memory. */
const MIN_TRACKED_BYTES = 16 * 1024;

/** The bodies that clients have not read yet. */
export class UnsentResponses {
  private readonly byClient = new Map<number | string, Map<ServerResponse, number>>();

  /**
   * Tracks a body until it is handed to the operating system. If its client leaves too much unread, the client's
   * connections with the oldest responses are closed.
   * @param client the id of a client, or the address of a sender without a valid key
   */
  hold(client: number | string, response: ServerResponse, body: string): void {
    if (body.length < MIN_TRACKED_BYTES) {
      return;
    }
    const held = this.byClient.get(client) ?? new Map<ServerResponse, number>();
    this.byClient.set(client, held.set(response, Buffer.byteLength(body)));
    response.once('close', () => {
      held.delete(response);
      if (held.size === 0 && this.byClient.get(client) === held) {
        this.byClient.delete(client);
      }
    });
    let bytes = [...held.values()].reduce((sum, size) => sum + size, 0);
    for (const [oldest, size] of held) {
      if (bytes <= MAX_UNSENT_BYTES) {
        return;
      }
      bytes -= size;
      oldest.req.socket.destroy();
    }
  }
}
