import { unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import * as E from 'fp-ts/lib/Either.js';
import type { Logger } from 'pino';
import { StartupError } from '#shared/errors/startup-error.ts';
import { decodeConfiguration, type GatewayConfiguration } from './configuration.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** How often the file is checked, in ms. Polling works with links, mounts and editors alike. */
const pollMs = 1_000;
/** The most issues in one log line. */
const maxListedIssues = 5;

/** The gateway's configuration in a file that may change while it runs. */
export class ConfigurationFile {
  readonly #path: string;
  readonly #environment: Environment;
  readonly #log: Logger;
  /** The text last applied; null after an invalid one. The same text again changes nothing. */
  #text: string | null = null;
  #reading: Promise<void> = Promise.resolve();
  #onChange: ((configuration: GatewayConfiguration) => void) | null = null;

  constructor(path: string, environment: Environment, log: Logger) {
    this.#path = path;
    this.#environment = environment;
    this.#log = log;
  }

  /** Reads the file for the first time. @throws StartupError with the issues in one line */
  async load(): Promise<GatewayConfiguration> {
    const read = await this.#read();
    if (E.isLeft(read)) throw new StartupError(`GATEWAY_CONFIG=${this.#path}: ${read.left}`);
    this.#text = read.right.text;
    return read.right.configuration;
  }

  /** Reports every valid change from now on. An invalid one is logged, and the running configuration stays. */
  watch(onChange: (configuration: GatewayConfiguration) => void): void {
    this.#onChange = onChange;
    watchFile(this.#path, { interval: pollMs, persistent: false }, this.#handleCheck);
  }

  /** Reads it now, whether or not it has changed. Resolves when that is done; never rejects. */
  reload(): Promise<void> {
    // One after the other: an older text must not come after a newer one.
    this.#reading = this.#reading.then(() => this.#apply());
    return this.#reading;
  }

  close(): void {
    this.#onChange = null;
    unwatchFile(this.#path, this.#handleCheck);
  }

  readonly #handleCheck = (): void => void this.reload();

  async #apply(): Promise<void> {
    const read = await this.#read();
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

  async #read(): Promise<E.Either<string, { readonly text: string; readonly configuration: GatewayConfiguration }>> {
    let text: string;
    let value: unknown;
    try {
      // Some editors put a byte order mark before a text, which JSON has no place for.
      text = (await readFile(this.#path, 'utf8')).replace(/^\uFEFF/, '');
    } catch (error) {
      return E.left(`the file cannot be read (${codeOf(error)})`);
    }
    try {
      value = JSON.parse(text);
    } catch (error) {
      return E.left(`the file is not JSON: ${error instanceof Error ? error.message : String(error)}`);
    }
    const decoded = decodeConfiguration(value, this.#environment);
    if (E.isRight(decoded)) return E.right({ text, configuration: decoded.right });
    const listed = decoded.left
      .slice(0, maxListedIssues)
      .map(({ pointer, message }) => `${pointer || 'the file'} ${message}`);
    const more = decoded.left.length > maxListedIssues ? [`${decoded.left.length - maxListedIssues} more`] : [];
    return E.left([...listed, ...more].join('; '));
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
}
