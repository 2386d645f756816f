import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A key and its certificate, which signs itself. */
export interface Certificate {
  readonly key: Buffer;
  readonly certificate: Buffer;
  /** For `tlsCAFile`. */
  readonly file: string;
}

/** Makes a certificate of this machine with openssl. @param folder where its files are */
export function makeCertificate(folder: string): Certificate {
  const [keyFile, file] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', keyFile, '-out', file];
  execFileSync('openssl', [...made, ...subject], { stdio: 'ignore' });
  return { key: readFileSync(keyFile), certificate: readFileSync(file), file };
}
