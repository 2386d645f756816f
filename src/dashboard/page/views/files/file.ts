/** A file in OpenAI's form. Times are in seconds since 1970. */
export interface StoredFile {
  readonly id: string;
  readonly filename: string;
  readonly bytes: number;
  readonly purpose: string;
  readonly created_at: number;
  readonly expires_at: number | null;
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** `1.2 MB` */
export function formatBytes(bytes: number): string {
  let size = bytes;
  let unit = 0;
  for (; size >= 1_000 && unit < units.length - 1; unit += 1) size /= 1_000;
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}
