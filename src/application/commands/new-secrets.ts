import { randomBytes, randomInt } from 'node:crypto';
import { secretPrefix } from '#domain/webhook-endpoint/secret.ts';
import type { NewSecrets } from './command.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const secretLength = 43;
const webhookSecretBytes = 32;

/** A new API key's text: `sy_live_` and 43 random letters and digits (256 bits). */
export function generateKey(): string {
  let secret = '';
  for (let index = 0; index < secretLength; index += 1) secret += alphabet[randomInt(alphabet.length)];
  return `sy_live_${secret}`;
}

/** A new signing secret of a webhook endpoint, in the form of Standard Webhooks: 256 bits. */
function generateWebhookSecret(): string {
  return secretPrefix + randomBytes(webhookSecretBytes).toString('base64');
}

/** Creates each secret at its first use, because few commands need one. */
export function createNewSecrets(): NewSecrets {
  let apiKey: string | undefined;
  let webhookSecret: string | undefined;
  return {
    get apiKey() {
      apiKey ??= generateKey();
      return apiKey;
    },
    get webhookSecret() {
      webhookSecret ??= generateWebhookSecret();
      return webhookSecret;
    },
  };
}
