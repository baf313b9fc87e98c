export class Why { constructor(root, id) { this.root = root; this.id = id; } async load() {} }
