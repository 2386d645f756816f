import { statfs } from 'node:fs/promises';

export interface VolumeSpace {
  readonly totalBytes: number;
  /** The free bytes for processes without privileges. */
  readonly freeBytes: number;
}

export interface FreeSpaceOptions {
  /** The folders on whose volumes space must stay free. */
  readonly folders: ReadonlyArray<string>;
  /** Minimum free space of each volume; null for 1 GiB or 5% of the volume, whichever is smaller. */
  readonly minFreeBytes: number | null;
  /** The default asks the system. */
  readonly volumeOf?: (folder: string) => Promise<VolumeSpace>;
}

const maxDefaultFreeBytes = 1024 * 1024 * 1024;
const freeShareByDefault = 0.05;

export class FreeSpace {
  readonly #folders: ReadonlyArray<string>;
  readonly #minFreeBytes: number | null;
  readonly #volumeOf: (folder: string) => Promise<VolumeSpace>;

  constructor({ folders, minFreeBytes, volumeOf = systemVolumeOf }: FreeSpaceOptions) {
    this.#folders = [...new Set(folders)];
    this.#minFreeBytes = minFreeBytes;
    this.#volumeOf = volumeOf;
  }

  /**
   * A volume that cannot be read counts as free, because the write itself then fails with a better error.
   * @param folder where the bytes would be written
   */
  async hasRoomFor(folder: string, bytes: number): Promise<boolean> {
    const all = this.#folders.includes(folder) ? this.#folders : [folder, ...this.#folders];
    const kept = await Promise.all(all.map((each) => this.#keepsFree(each, each === folder ? bytes : 0)));
    return kept.every(Boolean);
  }

  async #keepsFree(folder: string, bytes: number): Promise<boolean> {
    const volume = await this.#volumeOf(folder).catch(() => null);
    return volume === null || volume.freeBytes - bytes >= (this.#minFreeBytes ?? minFreeByDefault(volume));
  }
}

function minFreeByDefault({ totalBytes }: VolumeSpace): number {
  return Math.min(maxDefaultFreeBytes, Math.floor(totalBytes * freeShareByDefault));
}

async function systemVolumeOf(folder: string): Promise<VolumeSpace> {
  const { bsize, blocks, bavail } = await statfs(folder);
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
}
