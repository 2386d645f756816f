import { Webhook } from 'standardwebhooks';
import { Agent, request } from 'undici';
import type { DeliveryError } from '#domain/webhook-endpoint/delivery.ts';
import { abortAfter } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { type ReceiverRequest, readReceiverRequest } from '#webhooks/delivery/queue/endpoint-health.ts';
import { AddressRefusedError, HostNotFoundError, type UrlGuard } from '#webhooks/url-guard.ts';

export interface WebhookSenderOptions {
  readonly guard: UrlGuard;
  readonly timeoutMs: number;
}

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** A status outside 2xx, or no status, is an error. */
export interface WebhookResponse {
  /** The status; null without an answer. */
  readonly status: number | null;
  readonly error: DeliveryError | null;
  /** What the receiver asks for; null if it has accepted the message or not answered. */
  readonly receiverRequest: ReceiverRequest | null;
}

const maxConnectMs = 5_000;
/** Maximum number of bytes that are read and discarded, so that the connection can be used again. */
const maxDiscardedBytes = 16 * 1024;
const discardMs = 1_000;
const maxHeaderBytes = 16 * 1024;
const idleConnectionMs = 4_000;

/**
 * Connects directly to an address that the guard has checked, uses no proxy and follows no redirect. It does not keep
 * the bodies of answers.
 */
export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #agent: Agent;

  constructor(options: WebhookSenderOptions) {
    const { guard, timeoutMs } = options;
    this.#options = options;
    this.#agent = new Agent({
      // No limit: endpoints at one host may belong to different tenants, and none may wait for another's connection.
      connections: null,
      pipelining: 1,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      maxHeaderSize: maxHeaderBytes,
      keepAliveTimeout: idleConnectionMs,
      keepAliveMaxTimeout: idleConnectionMs,
      connect: { lookup: guard.lookup, timeout: Math.min(maxConnectMs, timeoutMs) },
    });
  }

  /** Sends a message. Never rejects: a failure is in the result. */
  async send({ url, headers, body, signal }: WebhookRequest): Promise<WebhookResponse> {
    const { guard, timeoutMs } = this.#options;
    const limit = limitedSignal(signal, timeoutMs);
    try {
      guard.checkLiteral(url);
      const {
        statusCode,
        headers: answered,
        body: answer,
      } = await request(url, {
        dispatcher: this.#agent,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'Switchyard', ...headers },
        body,
        signal: limit.signal,
      });
      // Only the status matters, so this call does not wait for the body.
      void answer.dump({ limit: maxDiscardedBytes, signal: abortAfter(discardMs) }).catch(() => answer.destroy());
      const error = errorOfStatus(statusCode);
      return {
        status: statusCode,
        error,
        receiverRequest: error === null ? null : readReceiverRequest(statusCode, answered, clock.time()),
      };
    } catch (error) {
      return { status: null, error: errorOf(error), receiverRequest: null };
    } finally {
      limit.release();
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/**
 * Aborts with another signal or after a time, until it is released. `AbortSignal.timeout` would hold the memory of a
 * try until the time is over, even if the receiver has answered immediately.
 */
function limitedSignal(signal: AbortSignal, milliseconds: number) {
  const limited = new AbortController();
  const abort = () => limited.abort();
  const timer = clock.setTimeout(abort, milliseconds);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  const release = () => {
    clock.clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  };
  return { signal: limited.signal, release };
}

function errorOfStatus(status: number): DeliveryError | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? 'redirect' : 'status';
}

const timeouts = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
  'ABORT_ERR',
]);

/** The kind of the error alone, because its text may contain addresses. */
function errorOf(error: unknown): DeliveryError {
  if (error instanceof AddressRefusedError) return 'address-refused';
  if (error instanceof HostNotFoundError) return 'host-not-found';
  if (!(error instanceof Error)) return 'connection';
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'timeout';
  const code = 'code' in error ? String(error.code) : '';
  if (timeouts.has(code)) return 'timeout';
  return code.includes('CERT') || code.includes('SIGNATURE') ? 'certificate' : 'connection';
}

export interface SignedMessage {
  /** The same in every try and replay. */
  readonly id: string;
  readonly sentAt: Date;
  readonly body: string;
}

/** The headers of Standard Webhooks. @param secrets valid ones, `whsec_…`; at least one */
export function signatureHeaders(
  { id, sentAt, body }: SignedMessage,
  secrets: ReadonlyArray<string>,
): Readonly<Record<string, string>> {
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, sentAt, body));
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
    'webhook-signature': signatures.join(' '),
  };
}
