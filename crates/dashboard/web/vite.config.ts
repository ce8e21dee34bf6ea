import { defineConfig } from "vite";

// Names without hashes and one file of each kind: what is committed can be compared.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../assets",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
    cssCodeSplit: false,
    target: "es2022",
    rollupOptions: {
      output: {
        entryFileNames: "app.js",
        chunkFileNames: "[name].js",
        assetFileNames: "app[extname]",
      },
    },
  },
});
