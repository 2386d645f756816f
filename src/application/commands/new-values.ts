import { randomBytes, randomInt } from 'node:crypto';
import { init } from '@paralleldrive/cuid2';
import { derivedCharacters } from '#domain/shared/derived-characters.ts';
import { suffixLength } from '#domain/shared/entity.ts';
import { secretPrefix } from '#domain/webhook-endpoint/secret.ts';

const base = 36;
const idTail = init({ length: 23 });

/** Made before the decision, so that deciding stays pure. */
export interface NewIds {
  /** For a resource that has its own stream. */
  readonly id: string;
  /** For an id inside a stream. */
  readonly suffix: string;
  /** For a resource that is created together with the first. */
  readonly secondId: string;
}

/** Created at its first use, because ids are expensive and most commands need none. */
export class RandomIds implements NewIds {
  #id: string | null = null;
  #secondId: string | null = null;
  #suffix: string | null = null;

  get id(): string {
    this.#id ??= `c${idTail()}`;
    return this.#id;
  }

  get secondId(): string {
    this.#secondId ??= `c${idTail()}`;
    return this.#secondId;
  }

  get suffix(): string {
    this.#suffix ??= randomSuffix();
    return this.#suffix;
  }
}

/** A repeated request finds the resources of the first one. */
export function deriveNewIds(seed: string): NewIds {
  const derive = (label: string, length: number) => derivedCharacters(`${label}\n${seed}`, length);
  return { id: `c${derive('id', 23)}`, secondId: `c${derive('second', 23)}`, suffix: derive('suffix', suffixLength) };
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

/** `sy_live_` and 43 random letters and digits (256 bits). */
export function generateKey(): string {
  let secret = '';
  for (let index = 0; index < secretLength; index += 1) secret += alphabet[randomInt(alphabet.length)];
  return `sy_live_${secret}`;
}

/** In the form of Standard Webhooks: 256 bits. */
function generateWebhookSecret(): string {
  return secretPrefix + randomBytes(webhookSecretBytes).toString('base64');
}

/** Each is created at its first use. */
export interface NewSecrets {
  readonly apiKey: string;
  readonly webhookSecret: string;
}

/** Few commands need one. */
export class RandomSecrets implements NewSecrets {
  #apiKey: string | null = null;
  #webhookSecret: string | null = null;

  get apiKey(): string {
    this.#apiKey ??= generateKey();
    return this.#apiKey;
  }

  get webhookSecret(): string {
    this.#webhookSecret ??= generateWebhookSecret();
    return this.#webhookSecret;
  }
}
