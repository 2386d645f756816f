import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { AppendReq, AppendResp, DeleteReq, ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { type ServiceError, type StatusObject, status } from '@grpc/grpc-js';
import { callFailure, isServerAnswer, isSilence, isUnusable } from './call-failure.ts';
import type { ServerSettings } from './server-settings.ts';

/** An object-mode stream of answers. */
export type ReadCall = ReturnType<StreamsClient['read']>;

interface Cancellable {
  cancel(): void;
}

export interface LinkListener {
  /** Called after each answer, also a refusal. */
  readonly answered: (link: NodeLink) => void;
  /** Called when a call ended without an answer. */
  readonly failed: (link: NodeLink, error: unknown) => void;
}

/** One connection, which is made at the first call. */
export class NodeLink {
  /** The address as `host:port`. */
  readonly address: string;
  readonly #stubs: StreamsClient;
  readonly #settings: ServerSettings;
  readonly #listener: LinkListener;
  readonly #calls = new Set<Cancellable>();
  readonly #subscriptions = new Set<Cancellable>();
  /** When the node last answered, or when a call began while none was open. */
  #heardAt = performance.now();

  constructor(address: string, settings: ServerSettings, listener: LinkListener) {
    this.address = address;
    this.#stubs = new StreamsClient(address, settings.credentials, settings.channelOptions);
    this.#settings = settings;
    this.#listener = listener;
  }

  /** When something last came from the node; while no call is open, this moment. On the clock of `performance.now()`. */
  get heardAt(): number {
    return this.#calls.size === 0 ? performance.now() : this.#heardAt;
  }

  get isIdle(): boolean {
    return this.#calls.size === 0 && this.#subscriptions.size === 0;
  }

  append(requests: ReadonlyArray<AppendReq>, deadline: Date): Promise<AppendResp> {
    return this.#answerOf((callback) => {
      const call = this.#stubs.append(this.#settings.metadata, { deadline }, callback);
      // The callback gets the error.
      call.on('error', () => {});
      for (const request of requests) call.write(request);
      call.end();
      return call;
    });
  }

  async delete(request: DeleteReq, deadline: Date): Promise<void> {
    await this.#answerOf((callback) => this.#stubs.delete(request, this.#settings.metadata, { deadline }, callback));
  }

  /** @param deadline null for a subscription */
  read(request: ReadReq, deadline: Date | null): ReadCall {
    const calls = deadline === null ? this.#subscriptions : this.#calls;
    const call = this.#stubs.read(request, this.#settings.metadata, {
      deadline: deadline ?? Number.POSITIVE_INFINITY,
    });
    this.#add(calls, call);
    call.on('metadata', () => this.#hear());
    // A server ends subscriptions that are too slow. The link still works.
    call.on('error', (error: Error) => {
      if (deadline !== null || isUnusable(callFailure(error))) this.#fail(error);
    });
    call.on('status', ({ code }: StatusObject) => {
      calls.delete(call);
      if (code === status.OK) this.#hear();
    });
    return call;
  }

  /** Waits for the first answer only. @returns why there is none; null if there is one */
  ask(request: ReadReq, deadline: Date): Promise<Error | null> {
    const { promise, resolve } = Promise.withResolvers<Error | null>();
    const call = this.read(request, deadline);
    call.on('data', () => resolve(null)).on('end', () => resolve(null));
    call.on('error', resolve);
    return promise.finally(() => call.cancel());
  }

  /** Closes the link for further calls. Open calls continue. */
  close(): void {
    this.#stubs.close();
  }

  /** Cuts the link, so that each call and subscription fails as cancelled. */
  cut(): void {
    for (const call of [...this.#calls, ...this.#subscriptions]) call.cancel();
  }

  #answerOf<Answer>(
    begin: (callback: (error: ServiceError | null, answer: Answer) => void) => Cancellable,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const call = begin((error, answer) => {
        this.#calls.delete(call);
        if (error === null) {
          this.#hear();
          resolve(answer);
        } else {
          this.#fail(error);
          reject(error);
        }
      });
      this.#add(this.#calls, call);
    });
  }

  #add(calls: Set<Cancellable>, call: Cancellable): void {
    if (this.#calls.size === 0) this.#heardAt = performance.now();
    calls.add(call);
  }

  #hear(): void {
    this.#heardAt = performance.now();
    this.#listener.answered(this);
  }

  #fail(error: Error): void {
    const failure = callFailure(error);
    if (failure.code === status.CANCELLED) return;
    if (!isSilence(failure)) this.#heardAt = performance.now();
    if (isServerAnswer(failure)) this.#listener.answered(this);
    else this.#listener.failed(this, error);
  }
}
