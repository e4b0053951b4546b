// Files that the bundle takes in as text.
declare module "*.toml" {
  const text: string;
  export default text;
}

declare module "*.md" {
  const text: string;
  export default text;
}
