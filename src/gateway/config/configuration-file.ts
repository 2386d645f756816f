import { unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import * as E from 'fp-ts/lib/Either.js';
import { delay, withTimeout } from '#shared/async/timed-waits.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import type { Json } from '#shared/json/json.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { GatewayConfiguration } from './configuration.ts';
import { decodeConfiguration } from './decode-configuration.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** How often the file is read, because polling works with links, with mounts and with every editor. */
const pollMs = 1_000;
/** How long an invalid file must stay unchanged until it is refused, because it may be half written. */
const settleMs = 200;
/** Time limit of a read. A file on another machine may never be read, and later reads wait for this one. */
const maxReadMs = 30_000;
const maxReads = 10;
const maxListedIssues = 5;

export class ConfigurationFile {
  readonly #path: string;
  readonly #environment: Environment;
  readonly #log: Logger;
  /** The text that was applied last; null after an invalid one. The same text again changes nothing. */
  #text: string | null = null;
  #reading: Promise<void> = Promise.resolve();
  readonly #closed = new AbortController();
  #onChange: ((configuration: GatewayConfiguration) => void) | null = null;

  constructor(path: string, environment: Environment, log: Logger) {
    this.#path = path;
    this.#environment = environment;
    this.#log = log;
  }

  /** @throws StartupError with the issues in one line */
  async load(): Promise<GatewayConfiguration> {
    const read = await this.#read();
    if (E.isLeft(read)) throw new StartupError(`GATEWAY_CONFIG=${this.#path}: ${read.left}`);
    this.#text = read.right.text;
    return read.right.configuration;
  }

  /** Watches the file. An invalid change is logged, and the running configuration stays. */
  watch(onChange: (configuration: GatewayConfiguration) => void): void {
    this.#onChange = onChange;
    watchFile(this.#path, { interval: pollMs, persistent: false }, this.#handleCheck);
  }

  /** Reads the file again even if it has not changed. Never rejects. */
  reload(): Promise<void> {
    // Reads run one after the other, so that an older text never replaces a newer one.
    this.#reading = this.#reading.then(() => this.#apply());
    return this.#reading;
  }

  close(): void {
    this.#onChange = null;
    this.#closed.abort();
    unwatchFile(this.#path, this.#handleCheck);
  }

  readonly #handleCheck = (): void => void this.reload();

  async #apply(): Promise<void> {
    const read = await this.#readSettled();
    if (this.#onChange === null) return;
    if (E.isLeft(read)) {
      this.#log.error(
        { file: this.#path, issues: read.left },
        'gateway configuration refused: the running one is kept',
      );
      this.#text = null;
      return;
    }
    if (read.right.text === this.#text) return;
    this.#text = read.right.text;
    this.#onChange(read.right.configuration);
    this.#log.info({ file: this.#path }, 'gateway configuration changed');
  }

  /**
   * Reads the file until it is valid, or two reads in a row find the same issues.
   * @returns the issues in one line
   */
  async #readSettled(): Promise<E.Either<string, ReadConfiguration>> {
    let read = await this.#read();
    for (let reads = 1; E.isLeft(read) && reads < maxReads; reads += 1) {
      await delay(settleMs, this.#closed.signal);
      const previous = read.left;
      read = await this.#read();
      if (E.isLeft(read) && read.left === previous) break;
    }
    return read;
  }

  /** @returns the issues in one line */
  async #read(): Promise<E.Either<string, ReadConfiguration>> {
    const reading = readConfiguration(this.#path, this.#environment);
    const late = E.left([`the file was not read within ${maxReadMs / 1_000} s`]);
    const read = await withTimeout(maxReadMs, reading, late);
    if (E.isRight(read)) return read;
    const listed = read.left.slice(0, maxListedIssues);
    const more = read.left.length > maxListedIssues ? [`${read.left.length - maxListedIssues} more`] : [];
    return E.left([...listed, ...more].join('; '));
  }
}

interface ReadConfiguration {
  readonly text: string;
  readonly configuration: GatewayConfiguration;
}

/**
 * @param environment where the variables that `apiKeyEnv` names must be set
 * @returns every issue, as a sentence without its full stop
 */
export async function readConfiguration(
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<E.Either<ReadonlyArray<string>, ReadConfiguration>> {
  let text: string;
  let value: unknown;
  try {
    // Some editors write a byte order mark before the text, which JSON does not allow.
    text = (await readFile(path, 'utf8')).replace(/^\uFEFF/, '');
  } catch (error) {
    return E.left([`the file cannot be read (${codeOf(error)})`]);
  }
  try {
    value = JSON.parse(text);
  } catch (error) {
    return E.left([`the file is not JSON: ${error instanceof Error ? error.message : String(error)}`]);
  }
  const decoded = decodeConfiguration(value, environment);
  if (E.isRight(decoded)) return E.right({ text, configuration: decoded.right });
  return E.left(decoded.left.map(({ pointer, message }) => `${pointer || 'the file'} ${message}`));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
}

/** Used without `GATEWAY_CONFIG`: the sandbox answers everything, so that a first run needs no account. */
export const builtInConfiguration: Json = {
  providers: { sandbox: { kind: 'sandbox', anyVoice: true } },
  models: { sandbox: { targets: [{ provider: 'sandbox', model: 'switchyard-sandbox' }] } },
  auto: {
    chat: { fast: 'sandbox', balanced: 'sandbox', smart: 'sandbox', turbo: 'sandbox' },
    transcription: 'sandbox',
    embeddings: 'sandbox',
  },
  voices: {
    sandbox: { provider: 'sandbox', voice: 'sandbox', model: 'switchyard-sandbox' },
    alloy: { provider: 'sandbox', voice: 'alloy', model: 'switchyard-sandbox' },
  },
};
