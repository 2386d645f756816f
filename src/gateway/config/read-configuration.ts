import { readFile } from 'node:fs/promises';
import * as E from 'fp-ts/lib/Either.js';
import type { GatewayConfiguration } from './configuration.ts';
import { decodeConfiguration } from './decode-configuration.ts';

/** A valid configuration and its text. */
export interface ReadConfiguration {
  readonly text: string;
  readonly configuration: GatewayConfiguration;
}

/**
 * Reads and checks a configuration file.
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
