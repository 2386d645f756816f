import { randomBytes, randomInt } from 'node:crypto';
import { init } from '@paralleldrive/cuid2';
import { derivedCharacters } from '#domain/shared/derived-characters.ts';
import { suffixLength } from '#domain/shared/entity.ts';
import { secretPrefix } from '#domain/webhook-endpoint/secret.ts';

const base = 36;
const idTail = init({ length: 23 });

/** The ids that a command may need. Made before the decision, so that deciding stays pure. */
export interface NewIds {
  /** An id for a resource that has its own stream. */
  readonly id: string;
  /** Further characters for an id inside a stream. */
  readonly suffix: string;
  /** A second id, for a resource that is created together with the first. */
  readonly secondId: string;
}

/** Random ids. */
export function createNewIds(): NewIds {
  return {
    get id() {
      return once(this, 'id', `c${idTail()}`);
    },
    get secondId() {
      return once(this, 'secondId', `c${idTail()}`);
    },
    get suffix() {
      return once(this, 'suffix', randomSuffix());
    },
  };
}

/** Ids that derive from a hash, so that a repeated request finds the resources of the first one. */
export function deriveNewIds(seed: string): NewIds {
  const derive = (label: string, length: number) => derivedCharacters(`${label}\n${seed}`, length);
  return { id: `c${derive('id', 23)}`, secondId: `c${derive('second', 23)}`, suffix: derive('suffix', suffixLength) };
}

/** Creates each id at its first use, because ids are expensive and most commands need none. */
function once(ids: object, name: string, value: string): string {
  Object.defineProperty(ids, name, { value });
  return value;
}

/**
 * 41 bits, from the pool that node:crypto keeps for `randomInt`. A separate call for random bytes costs ten times as
 * much.
 */
function randomSuffix(): string {
  return randomInt(base ** suffixLength)
    .toString(base)
    .padStart(suffixLength, '0');
}

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

/** Secrets that a command may return, each created at its first use. */
export interface NewSecrets {
  /** A new API key's text. */
  readonly apiKey: string;
  /** A new signing secret of a webhook endpoint. */
  readonly webhookSecret: string;
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
