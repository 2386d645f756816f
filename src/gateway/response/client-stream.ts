import type { Client } from '#exchange/client.ts';
import type { AttemptControl } from '#gateway/attempt/body-consumer.ts';
import { Deadline } from '#gateway/attempt/deadline.ts';
import { sseComment } from '#gateway/framing/sse-event.ts';

export interface ClientStreamHead {
  readonly status: number;
  /** The headers as alternating names and values. */
  readonly headers: ReadonlyArray<string>;
  /** The headers among them that name the target. */
  readonly servedBy: ReadonlyArray<string>;
}

/** Maximum silence. Proxies end a connection that is silent for a minute. */
const maxSilenceMs = 15_000;

/**
 * If the target that answers stays silent, the client gets the head without content, and in any longer silence a sign
 * of life. Neither is a part of the answer, so another target can still serve the call.
 */
export class ClientStream {
  readonly #response: Client;
  readonly #signOfLife: string | null;
  readonly #silence = new Deadline(() => this.#breakSilence());
  /** The head that is sent if its target stays silent. */
  #awaited: ClientStreamHead | null = null;
  #sent: ClientStreamHead | null = null;
  #isClosed = false;
  /** Whether the client has a part of an answer, or gets it now. */
  hasBegun = false;
  /** Whether the client has a part of an event, which nothing may interrupt. */
  isInsideEvent = false;

  /** @param signOfLife what the client gets in silence; null for nothing, and no head before the content */
  constructor(response: Client, signOfLife: string | null) {
    this.#response = response;
    this.#signOfLife = signOfLife;
  }

  get hasHead(): boolean {
    return this.#sent !== null;
  }

  /** Sends the head without content, unless content comes in time. @param earlyHeadMs 0 for never */
  awaitContent(head: ClientStreamHead, earlyHeadMs: number): void {
    if (this.hasHead || earlyHeadMs === 0 || this.#signOfLife === null) return;
    this.#awaited = head;
    this.#silence.set(earlyHeadMs);
  }

  /** Ends the wait: the target has content, or has failed. */
  stopAwaiting(): void {
    if (this.#awaited === null) return;
    this.#awaited = null;
    this.#silence.clear();
  }

  /** Begins the answer with its head, or with a comment if the client has the head of another attempt. */
  begin(head: ClientStreamHead): void {
    this.hasBegun = true;
    this.#sendHead(head);
  }

  #sendHead(head: ClientStreamHead): void {
    this.stopAwaiting();
    if (this.#sent === null) this.#response.start(head.status, head.headers);
    else if (commentOn(this.#sent) !== commentOn(head)) this.#response.write(commentOn(head));
    this.#sent = head;
  }

  /** Writes a piece. The provider is read further when the client has received it. */
  write(piece: Buffer, attempt: Pick<AttemptControl, 'pause' | 'resume'>): void {
    if (this.#response.write(piece)) this.#awaitSilence();
    else {
      attempt.pause();
      this.#awaitDrained(() => attempt.resume());
    }
  }

  end(last: Buffer | string): void {
    this.close();
    if (last.length > 0) this.#response.write(last);
    this.#response.end();
  }

  /** Sends no more signs of life. */
  close(): void {
    this.#isClosed = true;
    this.#awaited = null;
    this.#silence.clear();
  }

  #awaitSilence(): void {
    if (this.#signOfLife !== null && !this.#isClosed) this.#silence.set(maxSilenceMs);
  }

  /** Waits until the client has read. One that reads nothing gets no signs of life, so they do not pile up. */
  #awaitDrained(onDrained: () => void): void {
    this.#silence.clear();
    this.#response.onceDrained(() => {
      this.#awaitSilence();
      onDrained();
    });
  }

  #breakSilence(): void {
    const [head, signOfLife] = [this.#awaited, this.#signOfLife];
    if (this.#response.isDisconnected || signOfLife === null) return;
    try {
      if (head !== null) this.#sendHead(head);
      if (this.isInsideEvent || this.#response.write(signOfLife)) this.#awaitSilence();
      else this.#awaitDrained(() => undefined);
    } catch {
      // The head is sent with the content, and fails there.
      this.close();
    }
  }
}

function commentOn({ servedBy }: ClientStreamHead): string {
  const named: Record<string, string> = { target: '', attempts: '', ignored: '' };
  for (let at = 0; at < servedBy.length; at += 2)
    named[(servedBy[at] ?? '').toLowerCase().replace('x-switchyard-', '')] = servedBy[at + 1] ?? '';
  const members = Object.entries(named).map(([name, value]) => `${name}=${value}`);
  return sseComment(`switchyard ${members.join(' ')}`);
}
