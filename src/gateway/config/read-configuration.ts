import { readFile } from 'node:fs/promises';
import * as E from 'fp-ts/lib/Either.js';
import { decodeConfiguration, type GatewayConfiguration } from './configuration.ts';

/** A configuration that may be used, and the text that it was read from. */
export interface ReadConfiguration {
  readonly text: string;
  readonly configuration: GatewayConfiguration;
}

/**
 * Reads and judges a configuration file.
 * @param environment where the variables that `apiKeyEnv` names must be set
 * @returns every issue, in a sentence without its end
 */
export async function readConfiguration(
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<E.Either<ReadonlyArray<string>, ReadConfiguration>> {
  let text: string;
  let value: unknown;
  try {
    // Some editors put a byte order mark before a text, which JSON has no place for.
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
