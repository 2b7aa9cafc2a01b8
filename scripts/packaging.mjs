import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeFile, root } from "./run.mjs";
import { setUp } from "./setup.mjs";

/**
 * `npm run packaging [-- npm home-assistant debian]`: builds the files of a release into .rigbridge/packages, with an SBOM
 * of what they contain and SHA256SUMS. Publishes nothing.
 */
async function main(wanted) {
  const unknown = wanted.filter((name) => packages[name] === undefined);
  if (unknown.length > 0) {
    console.error(`${unknown[0]} is not a package; give any of ${Object.keys(packages).join(", ")}.`);
    return 1;
  }
  if (!(await setUp({ frontEnds: true }))) return 1;
  rmSync(out, { recursive: true, force: true });
  rmSync(work, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const app = installed(packed());
  for (const [name, make] of Object.entries(packages)) if (wanted.length === 0 || wanted.includes(name)) make(app);
  rmSync(work, { recursive: true });
  const sums = readdirSync(out)
    .sort()
    .map(
      (file) =>
        `${createHash("sha256")
          .update(readFileSync(join(out, file)))
          .digest("hex")}  ${file}\n`,
    );
  writeFileSync(join(out, "SHA256SUMS"), sums.join(""));
  for (const file of readdirSync(out)) console.log(`${join(out, file)}  ${sizeOf(join(out, file))}`);
  return 0;
}

const { version, description } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const out = join(root, ".rigbridge", "packages");
const work = join(root, ".rigbridge", "packaging");
const inTree = (...path) => join(root, "packaging", ...path);
const tarball = join(out, `rigbridge-${version}.tgz`);

const sizeOf = (file) => `${(statSync(file).size / 1e6).toFixed(1)} MB`;
const run = (command, args, options = {}) =>
  execFileSync(command, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], ...options });

/** Times in the files are those of the commit. */
const changedAt = run("git", ["log", "-1", "--format=%ct"]).trim();

const packages = {
  npm: (app) => {
    for (const folder of ["client", "nodes", "homebridge"])
      run("npm", ["pack", "--silent", "--workspace", folder, "--pack-destination", out]);
    // The client depends on nothing that the service does not.
    const sbom = run("npm", ["sbom", "--sbom-format", "cyclonedx"], { cwd: app });
    writeFileSync(join(out, `rigbridge-${version}.cdx.json`), sbom);
  },
  "home-assistant": () => {
    const folder = join(work, "rigbridge");
    cpSync(inTree("home-assistant", "rigbridge"), folder, { recursive: true });
    const config = join(folder, "config.yaml");
    writeFileSync(config, readFileSync(config, "utf8").replace(/^version: .*$/m, `version: "${version}"`));
    cpSync(tarball, join(folder, "rigbridge.tgz"));
    cpSync(join(root, "package-lock.json"), join(folder, "package-lock.json"));
    archive(join(out, `rigbridge-${version}-home-assistant.tar.gz`), work, "rigbridge");
  },
  debian,
};

/** Packs the service as npm would publish it. */
function packed() {
  run("npm", ["pack", "--silent", "--pack-destination", out]);
  return tarball;
}

/** Installs the packed service with the dependencies of the lock file; the folder. */
function installed(file) {
  const app = join(work, "app");
  mkdirSync(app, { recursive: true });
  run("tar", ["-xzf", file, "--strip-components=1", "-C", app]);
  cpSync(join(root, "package-lock.json"), join(app, "package-lock.json"));
  const options = ["--omit=dev", "--workspaces=false", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
  run("npm", ["ci", ...options], { cwd: app });
  // npm makes no SBOM while packages for development are declared but missing.
  const {
    devDependencies: _,
    workspaces: __,
    ...manifest
  } = JSON.parse(readFileSync(join(app, "package.json"), "utf8"));
  writeFileSync(join(app, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  rmSync(join(app, "package-lock.json"));
  return app;
}

function archive(file, folder, name) {
  const order = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", `--mtime=@${changedAt}`];
  run("tar", [...order, "-czf", file, "-C", folder, name]);
}

/** Debian's names of this machine's processor: the package has the Node program of the machine that builds it. */
const architectures = { x64: "amd64", arm64: "arm64" };

function debian(app) {
  const architecture = architectures[process.arch];
  if (process.platform !== "linux" || architecture === undefined) {
    console.log(`The Debian package is left out: it is built on Linux for x64 or arm64, not ${process.arch}.`);
    return;
  }
  const top = join(work, "debian");
  const put = (path, text, mode = 0o644) => {
    mkdirSync(join(top, path, ".."), { recursive: true });
    writeFileSync(join(top, path), text);
    chmodSync(join(top, path), mode);
  };
  const ours = (name) => readFileSync(inTree("debian", name), "utf8");
  cpSync(app, join(top, "usr/lib/rigbridge/app"), { recursive: true, verbatimSymlinks: true });
  cpSync(nodeFile, join(top, "usr/lib/rigbridge/node"));
  put("usr/bin/rigbridge", ours("rigbridge"), 0o755);
  put("usr/lib/systemd/system/rigbridge.service", unit());
  put("etc/rigbridge/rigbridge.yaml", ours("rigbridge.yaml"));
  const licence = readFileSync(join(root, "LICENSE"), "utf8");
  const nodeLicence =
    "/usr/lib/rigbridge/node is Node.js, https://github.com/nodejs/node/blob/main/LICENSE (MIT and others).\n";
  put("usr/share/doc/rigbridge/copyright", `${readFileSync(join(root, "NOTICE"), "utf8")}\n${nodeLicence}\n${licence}`);
  run("chmod", ["-R", "u=rwX,go=rX", top]);
  const installedSize = run("du", ["-sk", top]).split("\t", 1)[0];
  const control = {
    Package: "rigbridge",
    Version: version,
    Architecture: architecture,
    Maintainer: "Rigbridge contributors",
    "Installed-Size": installedSize,
    // What the Node program is linked with.
    Depends: "adduser, debconf (>= 0.5) | debconf-2.0, libc6 (>= 2.28), libstdc++6 (>= 8)",
    Section: "net",
    Priority: "optional",
    Homepage: "https://github.com/rigbridge/rigbridge",
    Description: description,
  };
  put(
    "DEBIAN/control",
    Object.entries(control)
      .map(([name, value]) => `${name}: ${value}\n`)
      .join(""),
  );
  put("DEBIAN/conffiles", "/etc/rigbridge/rigbridge.yaml\n");
  put("DEBIAN/templates", ours("templates"));
  for (const script of ["postinst", "prerm", "postrm"]) put(`DEBIAN/${script}`, ours(script), 0o755);
  const env = { ...process.env, SOURCE_DATE_EPOCH: changedAt };
  run("dpkg-deb", ["--root-owner-group", "-Zxz", "-z1", "--build", top, out], { env });
}

/** The unit of examples/systemd, with the package's program and its user, whose store outlives the package. */
function unit() {
  const text = readFileSync(join(root, "examples/systemd/rigbridge.service"), "utf8");
  const changes = [
    ["/usr/bin/env rigbridge", "/usr/bin/rigbridge"],
    ["DynamicUser=yes", "User=rigbridge\nGroup=rigbridge"],
  ];
  for (const [from] of changes) if (!text.includes(from)) throw new Error(`rigbridge.service has no ${from}`);
  return changes.reduce((unit, [from, to]) => unit.replace(from, to), text);
}

process.exitCode = await main(process.argv.slice(2));
