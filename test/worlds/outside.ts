import type { RequestSender } from '#app/parts/run-webhooks.ts';
import type { LineCalls, LineOutcome } from '#application/batches/line-calls.ts';
import { readLine } from '#gateway/batch/read-line.ts';
import { delay } from '#shared/async/timed-waits.ts';
import type { Random } from './random.ts';

/** A request that a receiver has got. */
export interface ReceivedMessage {
  readonly id: string;
  readonly node: string;
  /** When it was sent. */
  readonly at: number;
  readonly url: string;
  readonly body: string;
  /** Whether the receiver has accepted it. */
  readonly isAccepted: boolean;
  /** Whether the node learns what the receiver has answered. */
  readonly isAnswerKnown: boolean;
}

/** A call of a line that a provider has got. */
export interface AskedLine {
  readonly batchId: string;
  readonly customId: string;
  readonly node: string;
  readonly at: number;
}

export interface OutsideOptions {
  readonly random: Random;
  readonly now: () => number;
  readonly note: (line: string) => void;
}

const maxAnswerMs = 400;
const maxBytes = 100_000;
/** A webhook is refused by its sender after this time. */
const sendLimitMs = 15_000;

/** What the nodes of a world reach outside their stores: receivers of webhooks, and providers of models. */
export class Outside {
  readonly #options: OutsideOptions;
  readonly received: ReceivedMessage[] = [];
  readonly asked: AskedLine[] = [];
  /** The share of requests and answers that are lost. */
  lostShare = 0;

  constructor(options: OutsideOptions) {
    this.#options = options;
  }

  readonly createSender = (node: string): RequestSender => ({
    send: async ({ url, headers, body, signal }) => {
      const { random, now, note } = this.#options;
      const id = headers['webhook-id'] ?? '';
      const at = now();
      const fate = random.next();
      const isAccepted = fate >= this.lostShare;
      const isAnswerKnown = isAccepted && random.next() >= this.lostShare;
      await delay(random.next() * maxAnswerMs, signal);
      if (signal.aborted) return failed('timeout');
      note(`${now().toFixed(3)} ${node} sends ${id} ${isAccepted} ${isAnswerKnown}`);
      this.received.push({ id, node, at, url, body, isAccepted, isAnswerKnown });
      if (!isAccepted) return { status: 500, error: 'status', receiverRequest: null };
      await delay(isAnswerKnown ? random.next() * maxAnswerMs : sendLimitMs, signal);
      return isAnswerKnown ? { status: 200, error: null, receiverRequest: null } : failed('timeout');
    },
    close: async () => undefined,
  });

  readonly lineCalls = (node: string): LineCalls => ({
    read: (line, endpoint) => readLine(line, endpoint, maxBytes),
    call: async ({ customId }, { batchId, signal }): Promise<LineOutcome> => {
      const { random, now, note } = this.#options;
      if (random.isTrue(this.lostShare / 2)) return { kind: 'later', afterMs: 100 };
      note(`${now().toFixed(3)} ${node} asks ${batchId} ${customId}`);
      this.asked.push({ batchId, customId, node, at: now() });
      await delay(20 + random.next() * 4 * maxAnswerMs, signal);
      if (signal.aborted) return { kind: 'ended' };
      const body = Buffer.from(JSON.stringify({ answerTo: customId }));
      const requestId = `request-${this.asked.length}`;
      return {
        kind: 'answer',
        status: 200,
        requestId,
        contentType: 'application/json',
        body,
        release: () => undefined,
      };
    },
  });
}

function failed(error: 'timeout') {
  return { status: null, error, receiverRequest: null };
}
