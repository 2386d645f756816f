import { Webhook } from 'standardwebhooks';

/** The parts of a message that are signed. */
export interface SignedMessage {
  /** The same in every try and replay. */
  readonly id: string;
  readonly sentAt: Date;
  readonly body: string;
}

/**
 * Returns the headers of Standard Webhooks.
 * @param secrets the valid secrets, `whsec_…`; at least one
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
