import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { DigestFiles } from '#digests/digest-files.ts';

/** The folder of digests that the nodes of a world share. It notes each file whose content changes. */
export class DigestFilesInMemory implements DigestFiles {
  readonly path = '/world/digests';
  readonly #files = new Map<string, Buffer>();
  /** Every digest that was ever here. */
  readonly #digests = new Map<string, string>();
  readonly overwritten: string[] = [];

  async names(): Promise<ReadonlyArray<string>> {
    return [...this.#files.keys()];
  }

  has(name: string): boolean {
    return this.#files.has(name);
  }

  async readText(name: string): Promise<string> {
    const found = this.#files.get(name);
    if (found === undefined) throw new Error(`There is no file ${name}.`);
    return found.toString('utf8');
  }

  open(name: string): Readable {
    return Readable.from([this.#files.get(name) ?? Buffer.alloc(0)]);
  }

  async add(name: string, content: string | Readable): Promise<boolean> {
    const bytes = typeof content === 'string' ? Buffer.from(content) : await buffer(content);
    if (this.#files.has(name)) return false;
    this.#files.set(name, bytes);
    if (!name.endsWith('.json')) return true;
    const text = bytes.toString('utf8');
    if (this.#digests.has(name) && this.#digests.get(name) !== text) this.overwritten.push(name);
    this.#digests.set(name, text);
    return true;
  }

  async remove(name: string): Promise<void> {
    this.#files.delete(name);
  }
}
