import { createReadStream, existsSync } from 'node:fs';
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Digest, DigestPlace } from '#domain/history/digest.ts';
import { makeFolder } from '#shared/files/make-folder.ts';
import { replaceFile } from '#shared/files/replace-file.ts';
import { comparePlaces, digestOf, textOf } from './digest.ts';

/** The name of a digest's file. Names sort in the order of the digests. */
const namePattern = /^digest-(\d{6})-(\d{8})\.json$/;

/** A folder of digests: the external copy, or the copy of an auditor. */
export class DigestFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** The places of its digests, in order; none if the folder does not exist. */
  async places(): Promise<ReadonlyArray<DigestPlace>> {
    const names = existsSync(this.path) ? await readdir(this.path) : [];
    return names
      .flatMap((name) => {
        const [, chain, number] = namePattern.exec(name) ?? [];
        return number === undefined ? [] : [{ chain: Number(chain), number: Number(number) }];
      })
      .sort(comparePlaces);
  }

  /** Reads a digest; null if the file is not a digest. */
  async read(place: DigestPlace): Promise<Digest | null> {
    const digest = digestOf(await readFile(this.#digestFile(place), 'utf8'));
    return digest !== null && comparePlaces(digest, place) === 0 ? digest : null;
  }

  /** Reads a digest's compressed file of heads; null if it is missing. */
  heads(place: DigestPlace): Readable | null {
    return this.hasHeads(place) ? createReadStream(this.#headsFile(place)) : null;
  }

  /** Whether a digest's file of heads exists. */
  hasHeads(place: DigestPlace): boolean {
    return existsSync(this.#headsFile(place));
  }

  /** Adds a digest with its heads, durably; the digest's own file comes last. */
  async add(digest: Digest, heads: Readable): Promise<void> {
    makeFolder(this.path);
    await replaceFile(this.#headsFile(digest), heads);
    await replaceFile(this.#digestFile(digest), textOf(digest));
    const folder = await open(this.path);
    await folder.sync().finally(() => folder.close());
  }

  #digestFile(place: DigestPlace): string {
    return join(this.path, `${nameOf(place)}.json`);
  }

  #headsFile(place: DigestPlace): string {
    return join(this.path, `${nameOf(place)}.heads.ndjson.gz`);
  }
}

function nameOf({ chain, number }: DigestPlace): string {
  return `digest-${String(chain).padStart(6, '0')}-${String(number).padStart(8, '0')}`;
}
