import reactHooks from "eslint-plugin-react-hooks";
import { defineConfig, globalIgnores } from "eslint/config";
import typescript from "typescript-eslint";

export default defineConfig([
  globalIgnores(["build", "node_modules"]),
  {
    files: ["**/*.{ts,tsx}"],
    extends: [typescript.configs.strict, typescript.configs.stylistic, reactHooks.configs.flat.recommended],
    rules: {
      "max-lines": ["error", { max: 200 }],
      eqeqeq: "error",
      "no-console": "error",
      "no-eval": "error",
      // Text of jobs is hostile: it is only ever shown as text.
      "no-restricted-syntax": [
        "error",
        {
          selector:
            "JSXAttribute[name.name='dangerouslySetInnerHTML'], MemberExpression[property.name=/^(inner|outer)HTML$/], MemberExpression[property.name='insertAdjacentHTML']",
          message: "Text of jobs is hostile: show it as text.",
        },
      ],
      // Whole packages cost seconds of each build: `dist/dynamic/components/Button`, `dist/esm/icons/bars-icon`.
      "no-restricted-imports": ["error", { paths: ["@patternfly/react-core", "@patternfly/react-icons"] }],
      "@typescript-eslint/consistent-type-definitions": ["error", "interface"],
      "react-hooks/incompatible-library": "off", // it warns of TanStack Virtual, whose rows are not memoized here
    },
  },
]);
