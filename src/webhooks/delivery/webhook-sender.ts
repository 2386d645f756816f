import { Agent, request } from 'undici';
import type { DeliveryError } from '#domain/webhook-endpoint/delivery.ts';
import { AddressRefusedError, HostNotFoundError } from '#webhooks/guard/guard-errors.ts';
import type { UrlGuard } from '#webhooks/guard/url-guard.ts';
import { type ReceiverRequest, requestIn } from './queue/receiver-request.ts';

export interface WebhookSenderOptions {
  readonly guard: UrlGuard;
  /** One try at most. */
  readonly timeoutMs: number;
}

/** A request to a receiver. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Breaks it off. */
  readonly signal: AbortSignal;
}

/** What a receiver answered: a status outside 2xx, or none, is an error. */
export interface WebhookResponse {
  /** Null without an answer. */
  readonly status: number | null;
  readonly error: DeliveryError | null;
  /** What it asks for; null where it has accepted the message, or not answered. */
  readonly asks: ReceiverRequest | null;
}

const maxConnectMs = 5_000;
/** Of an answer so much is read and thrown away: then its connection can be used again. */
const discardedBytes = 16 * 1024;
const discardMs = 1_000;
const maxHeaderBytes = 16 * 1024;
const idleConnectionMs = 4_000;

/**
 * Sends requests to receivers, straight to an address that the guard has judged: through no proxy, following no redirect.
 * What receivers answer is not kept.
 */
export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #agent: Agent;

  constructor(options: WebhookSenderOptions) {
    const { guard, timeoutMs } = options;
    this.#options = options;
    this.#agent = new Agent({
      // Endpoints at one host may be of different tenants: none waits for a connection that another holds.
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

  /** Never rejects. */
  async send({ url, headers, body, signal }: WebhookRequest): Promise<WebhookResponse> {
    const { guard, timeoutMs } = this.#options;
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
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      // The status says it all: nobody waits for the rest.
      void answer.dump({ limit: discardedBytes, signal: AbortSignal.timeout(discardMs) }).catch(() => answer.destroy());
      const error = errorOfStatus(statusCode);
      return { status: statusCode, error, asks: error === null ? null : requestIn(statusCode, answered, Date.now()) };
    } catch (error) {
      return { status: null, error: errorOf(error), asks: null };
    }
  }

  /** Closes every connection at once. */
  close(): Promise<void> {
    return this.#agent.destroy();
  }
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

/** Of an error the kind alone is kept: texts may show addresses. */
function errorOf(error: unknown): DeliveryError {
  if (error instanceof AddressRefusedError) return 'address-refused';
  if (error instanceof HostNotFoundError) return 'host-not-found';
  if (!(error instanceof Error)) return 'connection';
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'timeout';
  const code = 'code' in error ? String(error.code) : '';
  if (timeouts.has(code)) return 'timeout';
  return code.includes('CERT') || code.includes('SIGNATURE') ? 'certificate' : 'connection';
}
