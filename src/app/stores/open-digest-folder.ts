import { DigestFilesInFolder } from '#digests/digest-files.ts';
import { DigestFolder } from '#digests/digest-folder.ts';
import { limited } from './limited.ts';
import { digestFileLimits } from './port-limits.ts';

/** Opens the folder with the external copies of digests, which may be on a network. It need not exist. */
export function openDigestFolder(path: string): DigestFolder {
  return new DigestFolder(path, limited(new DigestFilesInFolder(path), digestFileLimits));
}
