import { DigestFilesInFolder } from '#digests/digest-files.ts';
import { DigestFolder } from '#digests/digest-folder.ts';
import { limited } from './limited.ts';
import { digestFileLimits } from './port-limits.ts';

/** Opens the folder of the external copies of digests. It may be on a network, and need not exist. */
export function openDigestFolder(path: string): DigestFolder {
  return new DigestFolder(path, limited(new DigestFilesInFolder(path), digestFileLimits));
}
