import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { CSSOptions, Plugin, ProxyOptions } from "vite";
import { defineConfig } from "vitest/config";

const UNUSED = /\.pf-v6-theme-(high-contrast|felt|glass)|\.pf-v6-pficon-/;

/**
 * The pages use the fonts of the system: those of PatternFly would be half of the first view. Of its
 * themes they have light and dark; the rules of the others are a quarter of the CSS.
 */
const withoutUnused: NonNullable<Exclude<CSSOptions["postcss"], string>> = {
  plugins: [
    {
      postcssPlugin: "without-unused",
      AtRule: { "font-face": (rule) => void rule.remove() },
      Rule(rule) {
        const used = rule.selectors.filter((each) => !UNUSED.test(each.replace(/:not\([^()]*\)/g, "")));
        if (used.length === 0) rule.remove();
        else if (used.length < rule.selectors.length) rule.selectors = used;
      },
    },
  ],
};

/** Has the browser load the code of all pages with the page itself, which only `start.ts` asks for. */
const preloaded: Plugin = {
  name: "preloaded",
  apply: "build",
  transformIndexHtml: {
    order: "post",
    handler(_, { bundle = {} }) {
      const chunks = Object.values(bundle).filter((each) => each.type === "chunk");
      const files = new Set<string>();
      const styles = new Set<string>();
      const follow = (name: string | undefined) => {
        const chunk = chunks.find((each) => each.fileName === name);
        if (!chunk || files.has(chunk.fileName)) return;
        files.add(chunk.fileName);
        chunk.imports.forEach(follow);
        chunk.viteMetadata?.importedCss.forEach((style) => styles.add(style));
      };
      follow(chunks.find((each) => each.moduleIds.some((id) => id.endsWith("/src/main.tsx")))?.fileName);
      const link = (rel: string, file: string) => ({
        tag: "link",
        attrs: { rel, crossorigin: true, href: `/dashboard/${file}` },
        injectTo: "head" as const,
      });
      return [
        ...[...files].map((file) => link("modulepreload", file)),
        ...[...styles].map((file) => link("stylesheet", file)),
      ];
    },
  },
};

const TEXT = /\.(js|css|svg|json)$/;

/** Compresses files once, here: the server would do it while somebody waits for the first page. */
const compressed: Plugin = {
  name: "compressed",
  apply: "build",
  writeBundle({ dir }) {
    for (const name of readdirSync(dir ?? "", { recursive: true, encoding: "utf8" })) {
      if (!TEXT.test(name)) continue;
      const path = join(dir ?? "", name);
      writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
    }
  },
};

/** `npm run dev` shows the pages of this folder with the data of a real server: see README.md. */
const server: ProxyOptions = {
  target: process.env["TRAINWAY_URL"] ?? "http://127.0.0.1:8600",
  headers: process.env["TRAINWAY_TOKEN"] ? { Authorization: `Bearer ${process.env["TRAINWAY_TOKEN"]}` } : {},
};

const FIRST =
  /preload-helper|src\/(first|data\/(early|client|errors|session|search)|pages\/jobs\/(filters|windows)|pages\/job\/logs\/pages)\.ts$/;

/**
 * A file of its own for what `start.ts` needs, which then waits for no other code. One for the frame and the list
 * of jobs, and one for a job and its log, each with all that it imports: a page of fifty small files is slower
 * than one of three, since a browser asks for six of them at a time.
 */
const APP = /src\/(main|pages\/jobs\/JobsPage)\.tsx$/;
const JOB = /src\/pages\/job\/(JobPage|logs\/LogsTab)\.tsx$/;

export default defineConfig({
  base: "/dashboard/",
  plugins: [react(), preloaded, compressed],
  css: { postcss: withoutUnused },
  build: {
    outDir: "../src/trainway/server/dashboard",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0, // the server's Content-Security-Policy allows no data: URLs
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 800,
    rolldownOptions: {
      checks: { pluginTimings: false },
      output: {
        codeSplitting: {
          groups: [
            { name: "first", test: FIRST, priority: 3 },
            { name: "app", test: APP, priority: 2 },
            { name: "job", test: JOB, priority: 1 },
          ],
        },
      },
    },
  },
  server: {
    proxy: {
      "/api": server,
      "/dashboard/session": server,
      "/dashboard/events": server,
      "/dashboard/login": server,
    },
  },
  test: { include: ["src/**/*.test.ts", "src/**/*.test.tsx"], isolate: false },
});
