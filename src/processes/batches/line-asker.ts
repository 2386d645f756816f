import { createHash } from 'node:crypto';
import type { BatchLine, LineAnswer, LineCalls, LineOutcome } from '#application/batches/line-calls.ts';
import type { BatchState } from '#domain/batch/batch.ts';
import { derivedFileId } from '#domain/file/file.ts';
import type { Caller } from '#domain/shared/access.ts';
import type { CallSlot, CallSlots } from '#exchange/call-slots.ts';
import { abortable } from '#shared/async/timed-waits.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { answeredLine, maxBytesOnLine } from './answered-line.ts';
import type { BatchStore } from './batch-store.ts';
import type { FinishedLine } from './part-recorder.ts';
import type { NumberedLine } from './read-lines.ts';
import { type RunStop, TermOverError } from './run-stop.ts';

export interface LineAskerOptions {
  readonly calls: LineCalls;
  readonly slots: CallSlots;
  readonly store: BatchStore;
  /** True while this node holds the lease, by its clock. */
  readonly isHeld: () => boolean;
  readonly stop: RunStop;
  /** The caller; null when the key may not call models any more. */
  readonly caller: () => Caller | null;
  /** @throws UnavailableError if the project has no room for these bytes */
  readonly ensureSpace: (bytes: number) => Promise<void>;
  readonly log: Pick<Logger, 'error'>;
}

export interface NextLine {
  readonly line: NumberedLine;
  readonly slot: CallSlot;
}

/** How long a batch waits that finds no room for its next line, unless a call of its project ends before. */
export const roomMs = 250;

/** Asks the lines of one batch, each when it has a slot. */
export class LineAsker {
  readonly #options: LineAskerOptions;
  readonly #batch: NonNullable<BatchState>;
  /** The slot of the line that is being read. */
  #slot: CallSlot | null = null;

  constructor(options: LineAskerOptions, batch: NonNullable<BatchState>) {
    this.#options = options;
    this.#batch = batch;
  }

  /**
   * Waits for a slot for one more call, and reads the next open line only then. Lines that wait for a slot would
   * be in memory otherwise.
   * @param isOpen whether a line is to be asked, by its number
   * @returns null when no more lines are asked
   */
  async next(lines: AsyncGenerator<NumberedLine>, isOpen: (number: number) => boolean): Promise<NextLine | null> {
    this.#slot = await this.#acquireSlot();
    try {
      const line = this.#slot === null ? null : await this.#nextOpen(lines, isOpen);
      const slot = this.#slot;
      if (line === null || slot === null) return null;
      this.#slot = null;
      return { line, slot };
    } finally {
      this.#slot?.release();
    }
  }

  /** Gives the slot back while there is no room for the line. Returns whether to read on. */
  async waitForRoom(): Promise<boolean> {
    this.#slot?.refuse(roomMs);
    this.#slot = await this.#acquireSlot();
    return this.#slot !== null;
  }

  /** Releases the slot. @returns null if the call was interrupted */
  async ask({ line, slot }: NextLine): Promise<FinishedLine | null> {
    const finished = await this.#ask(line, slot);
    if (finished === null) line.release();
    return finished;
  }

  async #nextOpen(
    lines: AsyncGenerator<NumberedLine>,
    isOpen: (number: number) => boolean,
  ): Promise<NumberedLine | null> {
    for (;;) {
      const { value: line, done } = await lines.next();
      if (done) return null;
      if (isOpen(line.number)) return line;
      line.release();
    }
  }

  async #acquireSlot(): Promise<CallSlot | null> {
    const { slots, stop } = this.#options;
    const slot = await slots.acquire(this.#batch.projectId, this.#batch.facts.id, stop.asking);
    if (slot !== null && this.#mayCall()) return slot;
    slot?.release();
    return null;
  }

  /**
   * True if the model may be called: false as soon as the lease has lapsed according to this node's clock, even if no
   * store has confirmed that.
   */
  #mayCall(): boolean {
    const { isHeld, stop } = this.#options;
    if (!isHeld()) stop.stop('term-lost');
    return stop.reason === null;
  }

  async #ask(line: NumberedLine, slot: CallSlot): Promise<FinishedLine | null> {
    const { stop, log } = this.#options;
    const { id } = this.#batch.facts;
    const { number } = line;
    let customId = '';
    try {
      const read = async () => {
        const found = await this.#read(line);
        ({ customId } = found);
        return found;
      };
      const answer = await this.#answerTo(read, slot);
      if (answer === null) return null;
      line.becomeAnswer(answer.body.length);
      try {
        const stored = await this.#storeSpeech(customId, answer);
        line.becomeAnswer(maxBytesOnLine(stored));
        const answered = await answeredLine(id, customId, stored);
        line.becomeAnswer(answered.text.length);
        return { ...answered, number, release: () => line.release() };
      } finally {
        answer.release();
      }
    } catch (error) {
      if (error instanceof TermOverError || error instanceof FencedError) {
        stop.stop('taken-over');
        return null;
      }
      log.error({ err: error, batch: id, line: number }, 'a line of a batch could not be asked');
      return { ...(await answeredLine(id, customId, internalError)), number, release: () => line.release() };
    }
  }

  async #read({ number, bytes }: NumberedLine): Promise<BatchLine> {
    const { id, endpoint } = this.#batch.facts;
    const line = await this.#options.calls.read(bytes ?? Buffer.alloc(0), endpoint);
    if ('code' in line) throw new Error(`line ${number} of ${id} is not as it was checked: ${line.code}`);
    return line;
  }

  /**
   * Calls the model until it answers. The line's bytes are not needed after that, and storing may wait for space, which
   * no call should wait for.
   */
  async #answerTo(read: () => Promise<BatchLine>, slot: CallSlot): Promise<LineAnswer | null> {
    let held: CallSlot | null = slot;
    try {
      const line = await read();
      while (held !== null) {
        const outcome = await this.#call(line);
        if (outcome.kind === 'answer') return outcome;
        if (outcome.kind === 'ended') return null;
        held.refuse(outcome.afterMs);
        held = await this.#acquireSlot();
      }
      return null;
    } finally {
      held?.release();
    }
  }

  async #call(line: Parameters<LineCalls['call']>[0]): Promise<LineOutcome> {
    const { calls, stop } = this.#options;
    const { facts } = this.#batch;
    const caller = this.#options.caller();
    if (caller === null || !this.#mayCall()) return { kind: 'ended' };
    const idempotencyKey = createHash('sha256').update(`${facts.id}\n${line.customId}`).digest('hex');
    const request = {
      endpoint: facts.endpoint,
      batchId: facts.id,
      caller,
      idempotencyKey,
      signal: stop.calling,
    };
    const calling = calls.call(line, request).catch(laterOnOutage);
    try {
      return await abortable(stop.calling, () => calling);
    } catch (error) {
      if (!stop.calling.aborted) throw error;
      calling.then(releaseAnswer, ignore);
      return { kind: 'ended' };
    }
  }

  /** Stores speech as a file. The id of the file becomes the answer. */
  async #storeSpeech(customId: string, answer: LineAnswer): Promise<LineAnswer> {
    const { facts, projectId, outputExpiresAfterSeconds: expiresAfterSeconds } = this.#batch;
    if (facts.endpoint !== '/v1/audio/speech' || answer.status < 200 || answer.status > 299) return answer;
    const { store, ensureSpace } = this.#options;
    const { contentType, body } = answer;
    const id = derivedFileId(facts.id, `speech\n${customId}`);
    const file = { id, projectId, expiresAfterSeconds, filename: `${id}.${extensionOf(contentType)}`, contentType };
    const content = async function* () {
      yield body;
    };
    const fileId = await store.persist(async () => {
      await ensureSpace(body.length);
      return store.makeFile(file, content(), body.length);
    });
    return { ...answer, contentType: 'application/json', body: Buffer.from(JSON.stringify({ file_id: fileId })) };
  }
}

/** Releases an answer that came too late. */
function releaseAnswer(outcome: LineOutcome): void {
  if (outcome.kind === 'answer') outcome.release();
}

function ignore(): void {}

function laterOnOutage(error: unknown): LineOutcome {
  if (error instanceof UnavailableError) return { kind: 'later', afterMs: 1_000 };
  throw error;
}

function extensionOf(contentType: string): string {
  const [, subtype = 'bin'] = /^audio\/(?:x-)?([\w-]+)/.exec(contentType) ?? [];
  return subtype === 'mpeg' ? 'mp3' : subtype;
}

const internalError = {
  status: 500,
  requestId: 'none',
  contentType: 'application/json',
  body: Buffer.from(
    JSON.stringify({
      error: { message: 'Switchyard failed.', type: 'server_error', param: null, code: 'internal_error' },
    }),
  ),
};
