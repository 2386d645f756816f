import { Webhook } from 'standardwebhooks';

/** What is signed. */
export interface SignedMessage {
  /** The same for every try and replay. */
  readonly id: string;
  readonly sentAt: Date;
  readonly body: string;
}

/**
 * The headers of Standard Webhooks.
 * @param secrets those that sign now: `whsec_…`, one at least
 */
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
