import react from "@vitejs/plugin-react";
import type { CSSOptions, ProxyOptions } from "vite";
import { defineConfig } from "vitest/config";

/** The pages use the fonts of the system: those of PatternFly would be half of the first view. */
const withoutFonts: NonNullable<Exclude<CSSOptions["postcss"], string>> = {
  plugins: [
    {
      postcssPlugin: "without-fonts",
      AtRule: { "font-face": (rule) => void rule.remove() },
    },
  ],
};

/** `npm run dev` shows the pages of this folder with the data of a real server: see README.md. */
const server: ProxyOptions = {
  target: process.env["TRAINWAY_URL"] ?? "http://127.0.0.1:8600",
  headers: process.env["TRAINWAY_TOKEN"] ? { Authorization: `Bearer ${process.env["TRAINWAY_TOKEN"]}` } : {},
};

export default defineConfig({
  base: "/dashboard/",
  plugins: [react()],
  css: { postcss: withoutFonts },
  build: {
    outDir: "../src/trainway/server/dashboard",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0, // the server's Content-Security-Policy allows no data: URLs
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 800,
    rolldownOptions: { checks: { pluginTimings: false } },
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
