import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { join, sep } from 'node:path';
import { joinModules, type SourceModule } from './join-modules.ts';
import { joinStyles } from './join-styles.ts';

/** A file that the browser loads. */
export interface PageFile {
  /** A name without folders: `styles.mark.svg` for `page/styles/mark.svg`. */
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

/** The addresses have the hash of all files, so a browser may cache the files permanently. */
export interface PageFiles {
  readonly hash: string;
  readonly files: ReadonlyArray<PageFile>;
}

/** A module of a package, in one file. */
interface Vendor {
  readonly specifier: string;
  readonly name: string;
  readonly file: string;
  /** Makes a module of a file that is not one. */
  readonly asModule?: (text: string) => string;
}

const vendors: ReadonlyArray<Vendor> = [
  { specifier: 'preact', name: 'vendor.preact.js', file: 'preact/dist/preact.mjs' },
  { specifier: 'preact/hooks', name: 'vendor.preact-hooks.js', file: 'preact/hooks/dist/hooks.mjs' },
  { specifier: 'htm', name: 'vendor.htm.js', file: 'htm/dist/htm.mjs' },
  {
    specifier: 'uplot',
    name: 'vendor.uplot.js',
    file: 'uplot/dist/uPlot.iife.min.js',
    asModule: (text) => `${text}\nexport default uPlot;\n`,
  },
  {
    specifier: 'fast-myers-diff',
    name: 'vendor.fast-myers-diff.js',
    file: 'fast-myers-diff/bin/index.js',
    asModule: (text) => `const exports = {};\n(() => {\n${text}\n})();\nexport const { diff } = exports;\n`,
  },
];

const vendorStyles = { name: 'vendor.uplot.css', file: 'uplot/dist/uPlot.min.css' };

export const pageFolder = join(import.meta.dirname, 'page');

const script = 'text/javascript; charset=utf-8';
const style = 'text/css; charset=utf-8';
const image = 'image/svg+xml';
const ownPrefix = '#dashboard/page/';
const stylesFolder = 'styles/';

/**
 * Reads the files of this project and of packages. It removes the types of TypeScript, and joins all scripts of this
 * project into one, and all style sheets.
 * @throws Error for an import of an unknown module, and for a style sheet without a place in the order
 */
export async function readPageFiles(): Promise<PageFiles> {
  const paths = await ownPaths();
  const scripts = await Promise.all(paths.filter(isScript).map(ownModule));
  const outer = vendors.map(({ specifier, name }) => ({ specifier, address: `./${name}` }));
  const main = { name: 'main.js', type: script, text: joinModules(scripts, outer, `${ownPrefix}main.ts`) };
  const mainStyle = { name: 'main.css', type: style, text: joinStyles(await ownStyles(paths.filter(isStyle))) };
  const images = await Promise.all(paths.filter(isImage).map(ownImage));
  const own = [main, mainStyle, ...images];
  const files = [...own, ...(await Promise.all(vendors.map(vendorFile))), await vendorStyle()];
  const hash = createHash('sha256');
  for (const { name, text } of files) hash.update(`${name}\0${text}\0`);
  return { hash: hash.digest('base64url').slice(0, 16), files };
}

async function ownPaths(): Promise<ReadonlyArray<string>> {
  const paths: string[] = [];
  for await (const path of glob('**/*.{ts,css,svg}', { cwd: pageFolder })) paths.push(path.split(sep).join('/'));
  return paths.sort();
}

function isScript(path: string): boolean {
  return path.endsWith('.ts');
}

function isStyle(path: string): boolean {
  return path.endsWith('.css');
}

function isImage(path: string): boolean {
  return path.endsWith('.svg');
}

async function ownModule(path: string): Promise<SourceModule> {
  const text = await readFile(join(pageFolder, path), 'utf8');
  return { specifier: ownPrefix + path, text: stripTypeScriptTypes(text) };
}

/** The page's own styles by their path in the folder of styles. */
async function ownStyles(paths: ReadonlyArray<string>): Promise<ReadonlyMap<string, string>> {
  const sheets = paths.map(
    async (path): Promise<[string, string]> => [
      path.slice(stylesFolder.length),
      await readFile(join(pageFolder, path), 'utf8'),
    ],
  );
  return new Map(await Promise.all(sheets));
}

async function ownImage(path: string): Promise<PageFile> {
  return { name: path.replaceAll('/', '.'), type: image, text: await readFile(join(pageFolder, path), 'utf8') };
}

async function vendorFile({ name, file, asModule = (text) => text }: Vendor): Promise<PageFile> {
  const text = await readFile(packagePath(file), 'utf8');
  return { name, type: script, text: withServedImports(asModule(withoutSourceMap(text)), file) };
}

async function vendorStyle(): Promise<PageFile> {
  return { name: vendorStyles.name, type: style, text: await readFile(packagePath(vendorStyles.file), 'utf8') };
}

/** Finds a file of a package in any folder where packages may be installed. */
function packagePath(file: string): string {
  const [packageName = '', ...inside] = file.split('/');
  const paths = createRequire(import.meta.url).resolve.paths(packageName) ?? [];
  const folder = paths.map((path) => join(path, packageName)).find((path) => isInstalled(path));
  if (folder === undefined)
    throw new Error(`The package ${packageName} of the dashboard is not installed: run npm ci.`);
  return join(folder, ...inside);
}

function isInstalled(folder: string): boolean {
  return existsSync(join(folder, 'package.json'));
}

function withoutSourceMap(text: string): string {
  return text.replace(/^\/\/# sourceMappingURL=.*$/m, '');
}

const packageImport = /\bfrom\s*(['"])([^'"]+)\1/g;

/** Replaces imports between packages by addresses of the served files. */
function withServedImports(text: string, file: string): string {
  return text.replace(packageImport, (_, quote: string, specifier: string) => {
    const vendor = vendors.find((each) => each.specifier === specifier);
    if (vendor === undefined) throw new Error(`${file} imports ${specifier}, which the dashboard does not serve.`);
    return `from${quote}./${vendor.name}${quote}`;
  });
}
