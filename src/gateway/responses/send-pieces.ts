import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Client } from '#exchange/client.ts';

/** The node has no room for what an answer needs next. */
export class NoRoomError extends Error {}

const charactersOfTurn = 64 * 1024;

/**
 * Sends pieces. The head is written already, and the answer ends here. The next piece is made when the receiver has
 * taken those before. If it leaves, the pieces end.
 * @throws what the pieces throw; the answer is then aborted, so that a part does not look like the whole
 */
export async function sendPieces(response: Client, pieces: AsyncIterable<string>): Promise<void> {
  let made = 0;
  try {
    for await (const piece of pieces) {
      if (response.isDisconnected) return;
      if (!response.write(piece)) await untilTaken(response);
      made += piece.length;
      if (made < charactersOfTurn) continue;
      made = 0;
      await nextTurn();
    }
    response.end();
  } catch (error) {
    response.destroy();
    throw error;
  }
}

async function untilTaken(response: Client): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  response.onceDrained(resolve);
  response.onDisconnect(resolve);
  await promise;
  response.onDisconnect(null);
}
