import type { Readable } from 'node:stream';
import type { Digest, DigestPlace } from '#domain/history/digest.ts';
import { comparePlaces, DigestRefusedError, digestOf, digestText } from './digest.ts';
import { type DigestFiles, DigestFilesInFolder } from './digest-files.ts';
import { hashOfHeads, isNoHeadsFile } from './heads-file.ts';

/** Names sort in the order of the digests. */
const namePattern = /^digest-(\d{6})-(\d{8})\.json$/;

/** A folder of digests: the external copy, or the copy of an auditor. */
export class DigestFolder {
  readonly path: string;
  readonly #files: DigestFiles;

  constructor(path: string, files: DigestFiles = new DigestFilesInFolder(path)) {
    this.path = path;
    this.#files = files;
  }

  /** The places of the digests in order; none if the folder does not exist. */
  async places(): Promise<ReadonlyArray<DigestPlace>> {
    return (await this.#files.names())
      .flatMap((name) => {
        const [, chain, number] = namePattern.exec(name) ?? [];
        return number === undefined ? [] : [{ chain: Number(chain), number: Number(number) }];
      })
      .sort(comparePlaces);
  }

  /** Null if the file is not a digest. */
  async read(place: DigestPlace): Promise<Digest | null> {
    const digest = digestOf(await this.#files.readText(digestName(place)));
    return digest !== null && comparePlaces(digest, place) === 0 ? digest : null;
  }

  /** The compressed heads; null if they are missing. */
  heads(place: DigestPlace): Readable | null {
    return this.hasHeads(place) ? this.#files.open(headsName(place)) : null;
  }

  hasHeads(place: DigestPlace): boolean {
    return this.#files.has(headsName(place));
  }

  /**
   * Adds a digest with its heads, durably; the digest's own file comes last. No file is replaced: another node may have
   * added the same digest meanwhile.
   * @throws DigestRefusedError if the folder has another digest at this place; what `openHeads` and the file system throw
   */
  async add(digest: Digest, openHeads: () => Promise<Readable>): Promise<void> {
    await this.#removeOtherHeads(digest);
    if (!this.hasHeads(digest)) await this.#files.add(headsName(digest), await openHeads());
    if (await this.#files.add(digestName(digest), digestText(digest))) return;
    if ((await this.read(digest))?.signature === digest.signature) return;
    throw new DigestRefusedError(
      `${this.path} has another digest ${digest.number} of chain ${digest.chain} than the blob store. Run events verify --digests.`,
    );
  }

  /**
   * Removes a file of heads that no digest names: its writer ended before it added the digest, which a restore of the
   * blob store has lost since.
   */
  async #removeOtherHeads(digest: Digest): Promise<void> {
    const heads = this.#files.has(digestName(digest)) ? null : this.heads(digest);
    if (heads === null) return;
    const hash = await hashOfHeads(heads).catch((error: unknown) => {
      // A file that cannot be read now may be whole.
      if (isNoHeadsFile(error)) return null;
      throw error;
    });
    if (hash !== digest.headsHash) await this.#files.remove(headsName(digest));
  }
}

function digestName(place: DigestPlace): string {
  return `${nameOf(place)}.json`;
}

function headsName(place: DigestPlace): string {
  return `${nameOf(place)}.heads.ndjson.gz`;
}

function nameOf({ chain, number }: DigestPlace): string {
  return `digest-${String(chain).padStart(6, '0')}-${String(number).padStart(8, '0')}`;
}
