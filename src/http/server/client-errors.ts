import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { turn, workOfTurn } from '#exchange/turns.ts';
import { lastAnswerOn } from '#http/request/connections.ts';
import { hasOwnArrivalLimits } from '#http/request/request-body.ts';
import { workForAll } from '#shared/async/fair-queue.ts';

/**
 * Maximum number of answers in a turn. Thousands of clients can leave in one turn of the event loop, or exceed a limit
 * in it.
 */
const maxAnswersInTurn = 50;

/**
 * Ends connections whose requests Node could not read, or whose clients left in the middle of one: a few in each turn.
 */
export class ClientErrors {
  readonly #waiting = new WeakSet<Socket>();

  /** Ends a connection with an answer, if it may have one. */
  async answer(error: NodeJS.ErrnoException, socket: Socket): Promise<void> {
    // Node reports an error again with each further piece that arrives.
    if (this.#waiting.has(socket)) return;
    const waiting = turn(workForAll(), 'connection', workOfTurn / maxAnswersInTurn);
    if (waiting !== null) {
      this.#waiting.add(socket);
      await waiting;
      this.#waiting.delete(socket);
    }
    const last = lastAnswerOn(socket);
    if (!mayTakeLonger(error, last)) answerClientError(error, socket, last);
  }
}

/** True if the limit on a whole request does not apply: a body has its own limits. */
function mayTakeLonger(error: NodeJS.ErrnoException, last: ServerResponse | undefined): boolean {
  if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT' || last === undefined) return false;
  return !last.req.complete && hasOwnArrivalLimits(last.req);
}

/** Answers in plain text. Closes the connection. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket, last: ServerResponse | undefined): void {
  const answering = last !== undefined && !last.writableEnded;
  // The answer to another request is pending on this connection, or has begun. Further bytes would damage it.
  const answerFirst = answering && (last.headersSent || last.req.complete);
  if (!socket.writable || error.code === 'ECONNRESET' || answerFirst) {
    socket.destroy();
    return;
  }
  const { status, title, detail } = refusalOf(error.code);
  const body = JSON.stringify({ type: '/docs/problems#bad-request', title, status, detail, code: 'bad-request' });
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // Reads on for a moment: closing with unread bytes would reset the connection, and the client would lose the answer.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), 500);
  socket.once('close', () => clearTimeout(timer));
}

function refusalOf(code: string | undefined): { status: number; title: string; detail: string } {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, title: 'Request Header Fields Too Large', detail: 'The headers are too large.' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, title: 'Request Timeout', detail: 'The request took too long to arrive.' };
    default:
      return { status: 400, title: 'Bad Request', detail: 'The request is not HTTP.' };
  }
}
